// The one table of anomalies, of models, and of which rules out which.
//
// Sources of the table:
//
// - Adya: Weak Consistency (thesis, MIT 1999)
// - Bailis: Highly Available Transactions (VLDB 2013)
// - Cerone: A Framework for Transactional Consistency Models with Atomic Visibility (CONCUR 2015)
// - Cerone-SI: Analysing Snapshot Isolation (PODC 2016); generalized SI forbids every cycle
//   without adjacent rw edges
// - Terry: Session Guarantees for Weakly Consistent Replicated Data (PDIS 1994), for single keys
// - Daudjee: Lazy Database Replication with Ordering Guarantees (ICDE 2004),
//   with Snapshot Isolation (VLDB 2006)
// - Liu: ROLA: A New Distributed Transaction Protocol and Its Formal Analysis (FASE 2018): update
//   atomicity
// - Herlihy and Wing: Linearizability (TOPLAS 1990)
// - Elle: Kingsbury and Alvaro (VLDB 2020), and its consistency models: the process and realtime
//   forms
//
// A model lists only what it adds to the models that it implies, and stands after them. Forms of
// the models of transactions are made by a rule (models.cc): strong-session-M forbids, of each
// cycle that M forbids, the one with session order, too, and strong-M the one with real time. They
// imply M, and those forms of what M implies. docs/models.md shows the tables, with what follows.
#pragma once

#include <string_view>

namespace ordeal::cycles {

using Names = std::string_view;  // separated by blanks

struct Implication {
  std::string_view anomaly;
  Names implies;
};

inline constexpr Implication kAnomalies[] = {
    {"G0", "G1c G0-process"},  // Adya; a cycle is also one of the graph with more edges
    {"G0-process", "G1c-process G0-realtime"},  // processes are single-threaded
    {"G0-realtime", "G1c-realtime"},
    {"G1a", "G1"},  // Adya: G1 is the union of the three
    {"G1b", "G1"},
    {"G1c", "G1 G1c-process"},
    {"G1c-process", "G1c-realtime G1-process"},
    {"G1c-realtime", "G1-realtime"},
    {"G1", "G1-process"},
    {"G1-process", "G1-realtime"},
    {"G-single-item", "G-single G-single-item-process G-nonadjacent-item"},
    {"G-single-item-process", "G-single-process G-single-item-realtime G-nonadjacent-item-process"},
    {"G-single-item-realtime", "G-single-realtime G-nonadjacent-item-realtime"},
    {"G-single", "G-nonadjacent G-single-process"},
    {"G-single-process", "G-nonadjacent-process G-single-realtime"},
    {"G-single-realtime", "G-nonadjacent-realtime"},
    {"G-nonadjacent-item", "G-nonadjacent G2-item G-nonadjacent-item-process"},
    {"G-nonadjacent-item-process",
     "G-nonadjacent-process G2-item-process G-nonadjacent-item-realtime"},
    {"G-nonadjacent-item-realtime", "G2-item-realtime G-nonadjacent-realtime"},
    {"G-nonadjacent", "G2 G-nonadjacent-process"},
    {"G-nonadjacent-process", "G2-process G-nonadjacent-realtime"},
    {"G-nonadjacent-realtime", "G2-realtime"},
    {"G2-item", "G2 G2-item-process"},  // Adya
    {"G2-item-process", "G2-process G2-item-realtime"},
    {"G2-item-realtime", "G2-realtime"},
    {"G2", "G2-process"},
    {"G2-process", "G2-realtime"},
    {"G2-realtime", ""},
    {"G1-realtime", ""},
    {"incompatible-order", "G1a"},          // Elle: one of the reads came from no committed state
    {"future-read", "G1c"},                 // Elle: a transaction that depends on itself
    {"dirty-update", "G1a"},                // Elle: like a dirty read, by a write
    {"lost-update", "write-skew G2-item"},  // Bailis
    {"write-skew", "G2"},
    {"internal", ""},            // Cerone: axiom INT
    {"duplicate-elements", ""},  // Elle: no Adya history has these three
    {"cyclic-versions", ""},
    {"garbage-read", ""},
    {"N-MR", "G-single-item-process"},  // Bailis, appendix A; by way of the key's version order
    {"MYR", "G-single-item-process"},
    {"N-MW", "G0-process"},
    {"MRWD", "G1c-process"},
    {"non-linearizable-key", ""},
};

struct Model {
  std::string_view name;
  Names implies;
  Names forbids;  // in addition
  std::string_view source;
  // Models of single keys that the strong-session and the strong form imply in addition: what they
  // forbid shows as one of the cycles that the form forbids.
  Names in_sessions = "";
  Names in_real_time = "";
};

// Of keys one by one. They say nothing of transactions, and have no stronger forms.
inline constexpr Model kSingleKeyModels[] = {
    {"monotonic-reads", "", "N-MR", "Terry; Bailis"},
    {"monotonic-writes", "", "N-MW", "Terry; Bailis"},
    {"read-your-writes", "", "MYR", "Terry; Bailis"},
    {"writes-follow-reads", "", "MRWD", "Terry; Bailis"},
    {"PRAM", "monotonic-reads monotonic-writes read-your-writes", "", "Bailis"},
    {"per-key-linearizable", "PRAM writes-follow-reads", "non-linearizable-key",
     "Herlihy and Wing, each key an object of its own"},
};

inline constexpr Model kModels[] = {
    // Version orders are total, and versions come from writes.
    {"read-uncommitted", "", "G0 duplicate-elements cyclic-versions garbage-read", "Adya: PL-1",
     "monotonic-writes"},
    {"read-committed", "read-uncommitted", "G1", "Adya: PL-2", "writes-follow-reads"},
    {"cursor-stability", "read-committed", "lost-update", "Adya: PL-CS; Bailis"},
    {"monotonic-view", "read-committed", "", "Adya: PL-2L"},
    {"monotonic-snapshot-read", "read-committed", "", "Adya: PL-MSR"},
    {"monotonic-atomic-view", "read-committed", "", "Bailis"},
    {"consistent-view", "cursor-stability monotonic-view", "G-single", "Adya: PL-2+", "PRAM",
     "per-key-linearizable"},
    {"forward-consistent-view", "consistent-view", "", "Adya: PL-FCV"},
    {"read-atomic", "monotonic-atomic-view", "internal", "Cerone"},
    {"update-atomic", "read-atomic", "lost-update", "Liu"},
    {"causal-cerone", "read-atomic", "", "Cerone"},
    {"prefix", "causal-cerone", "", "Cerone"},
    {"parallel-snapshot-isolation", "causal-cerone update-atomic", "", "Cerone; Liu"},
    {"repeatable-read", "cursor-stability monotonic-atomic-view", "G2-item", "Adya: PL-2.99",
     "PRAM", "per-key-linearizable"},
    {"snapshot-isolation",
     "forward-consistent-view monotonic-atomic-view monotonic-snapshot-read "
     "parallel-snapshot-isolation prefix",
     "G-nonadjacent", "Adya: PL-SI; Bailis; Cerone; Cerone-SI; Daudjee"},
    {"update-serializable", "forward-consistent-view", "", "Adya: PL-3U"},
    // Serializable histories are snapshot-isolated: Bailis and Cerone.
    {"serializable", "repeatable-read update-serializable snapshot-isolation", "G2",
     "Adya: PL-3; Daudjee"},
};

struct Alias {
  std::string_view name;
  std::string_view canonical;
};

// Forms of a model have those of its aliases, too: strong-session-causal.
inline constexpr Alias kAliases[] = {
    {"strong-serializable", "strict-serializable"},
    {"conflict-serializable", "serializable"},
    {"causal", "causal-cerone"},
    {"PL-1", "read-uncommitted"},
    {"PL-2", "read-committed"},
    {"PL-2.99", "repeatable-read"},
    {"PL-3", "serializable"},
    {"PL-SI", "snapshot-isolation"},
    {"PL-SS", "strict-serializable"},
};

}  // namespace ordeal::cycles
