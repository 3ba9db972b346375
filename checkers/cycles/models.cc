// Sources of the table:
//   Adya       Weak Consistency (thesis, MIT 1999)
//   Bailis     Highly Available Transactions (VLDB 2013)
//   Cerone     A Framework for Transactional Consistency Models with Atomic Visibility (CONCUR
//   2015) Cerone-SI  Analysing Snapshot Isolation (PODC 2016): generalized SI forbids every cycle
//   in which no two rw
//              edges are adjacent
//   Terry      Session Guarantees for Weakly Consistent Replicated Data (PDIS 1994), for single
//   keys Daudjee    Lazy Database Replication with Ordering Guarantees (ICDE 2004), with Snapshot
//   Isolation (VLDB 2006) Liu        ROLA: A New Distributed Transaction Protocol and Its Formal
//   Analysis (FASE 2018): update atomicity Elle       Kingsbury and Alvaro (VLDB 2020), and its
//   consistency models: the process and realtime forms
// A model lists only what it adds to the models it implies.
#include "checkers/cycles/models.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <string>

namespace ordeal::cycles {
namespace {

using Names = std::string_view;  // separated by blanks

struct Implication {
  std::string_view anomaly;
  Names implies;
};

constexpr Implication kAnomalies[] = {
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
  Names forbids;
};

constexpr Model kModels[] = {
    // Adya: PL-1. Version orders are total, and versions come from writes.
    {"read-uncommitted", "", "G0 duplicate-elements cyclic-versions garbage-read"},
    {"read-committed", "read-uncommitted", "G1"},                          // Adya: PL-2
    {"cursor-stability", "read-committed", "lost-update"},                 // Adya: PL-CS; Bailis
    {"monotonic-view", "read-committed", ""},                              // Adya: PL-2L
    {"monotonic-snapshot-read", "read-committed", ""},                     // Adya: PL-MSR
    {"monotonic-atomic-view", "read-committed", ""},                       // Bailis
    {"consistent-view", "cursor-stability monotonic-view", "G-single"},    // Adya: PL-2+
    {"forward-consistent-view", "consistent-view", ""},                    // Adya: PL-FCV
    {"read-atomic", "monotonic-atomic-view", "internal G1a future-read"},  // Cerone
    {"update-atomic", "read-atomic", "lost-update"},                       // Liu
    {"causal-cerone", "read-atomic", "internal G1a"},                      // Cerone
    {"prefix", "causal-cerone", ""},                                       // Cerone
    {"parallel-snapshot-isolation", "causal-cerone update-atomic", ""},    // Cerone; Liu
    {"repeatable-read", "cursor-stability monotonic-atomic-view",
     "G2-item lost-update"},  // Adya: PL-2.99
    // Adya: PL-SI; Bailis; Cerone; Cerone-SI.
    {"snapshot-isolation",
     "forward-consistent-view monotonic-atomic-view monotonic-snapshot-read "
     "parallel-snapshot-isolation prefix",
     "internal G-nonadjacent"},
    {"update-serializable", "forward-consistent-view", ""},  // Adya: PL-3U
    // Adya: PL-3. Bailis and Cerone: serializable histories are snapshot-isolated.
    {"serializable", "repeatable-read update-serializable snapshot-isolation", "G2 internal"},
    {"monotonic-reads", "", "N-MR"},  // Terry; Bailis; also the next three
    {"monotonic-writes", "", "N-MW"},
    {"read-your-writes", "", "MYR"},
    {"writes-follow-reads", "", "MRWD"},
    {"PRAM", "monotonic-reads monotonic-writes read-your-writes", ""},  // Bailis
    // Herlihy and Wing, Linearizability (TOPLAS 1990), each key an object of its own.
    {"per-key-linearizable", "PRAM writes-follow-reads", "non-linearizable-key"},
    {"strong-session-read-uncommitted", "read-uncommitted monotonic-writes",
     "G0-process"},  // Elle, also the next three
    {"strong-session-read-committed",
     "read-committed strong-session-read-uncommitted writes-follow-reads", "G1c-process"},
    {"strong-read-uncommitted", "strong-session-read-uncommitted", "G0-realtime"},
    {"strong-read-committed", "strong-session-read-committed strong-read-uncommitted",
     "G1c-realtime"},
    // Daudjee; Cerone-SI.
    {"strong-session-snapshot-isolation", "snapshot-isolation strong-session-read-committed PRAM",
     "G1-process G-nonadjacent-process"},
    {"strong-snapshot-isolation",
     "strong-session-snapshot-isolation strong-read-committed per-key-linearizable",
     "G1-realtime G-nonadjacent-realtime"},
    {"strong-session-serializable", "serializable strong-session-snapshot-isolation",
     "G1-process G2-process"},  // Daudjee
    // Adya: PL-SS.
    {"strict-serializable", "serializable strong-snapshot-isolation strong-session-serializable",
     "G1-realtime G2-realtime"},
};

struct Alias {
  std::string_view name;
  std::string_view canonical;
};

constexpr Alias kAliases[] = {
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

constexpr std::size_t kModelCount = std::size(kModels);
constexpr std::size_t kAnomalyCount = std::size(kAnomalies);
using ModelSet = std::uint64_t;
using AnomalySet = std::uint64_t;
static_assert(kModelCount <= 64 && kAnomalyCount <= 64);

constexpr std::size_t kNotFound = ~std::size_t{0};

std::size_t model_id(std::string_view name) {
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if (kModels[id].name == name) return id;
  }
  return kNotFound;
}

std::size_t anomaly_id(std::string_view name) {
  for (std::size_t id = 0; id < kAnomalyCount; ++id) {
    if (kAnomalies[id].anomaly == name) return id;
  }
  return kNotFound;
}

template <class Visit>
void for_each_name(Names names, Visit&& visit) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    visit(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

AnomalySet implied_by(std::string_view anomaly) {
  const std::size_t id = anomaly_id(anomaly);
  if (id == kNotFound) return 0;
  AnomalySet result = AnomalySet{1} << id;
  for_each_name(kAnomalies[id].implies, [&](std::string_view name) { result |= implied_by(name); });
  return result;
}

struct Tables {
  std::array<ModelSet, kModelCount>
      implied{};  // models that hold where this one does, itself included
  std::array<AnomalySet, kModelCount> forbidden{};  // directly
  std::array<AnomalySet, kAnomalyCount> implied_anomalies{};
};

Tables make_tables() {
  Tables tables;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    tables.implied[id] = ModelSet{1} << id;
    // A model stands in the table after those that it implies, so one pass closes the relation.
    for_each_name(kModels[id].implies, [&](std::string_view name) {
      assert(model_id(name) < id);
      tables.implied[id] |= tables.implied[model_id(name)];
    });
    for_each_name(kModels[id].forbids, [&](std::string_view name) {
      assert(anomaly_id(name) != kNotFound);
      tables.forbidden[id] |= AnomalySet{1} << anomaly_id(name);
    });
  }
  for (std::size_t id = 0; id < kAnomalyCount; ++id) {
    tables.implied_anomalies[id] = implied_by(kAnomalies[id].anomaly);
  }
  return tables;
}

const Tables& tables() {
  static const Tables kTables = make_tables();
  return kTables;
}

ModelSet ruled_out(AnomalySet anomalies) {
  ModelSet directly = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if ((tables().forbidden[id] & anomalies) != 0) directly |= ModelSet{1} << id;
  }
  ModelSet result = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if ((tables().implied[id] & directly) != 0) result |= ModelSet{1} << id;
  }
  return result;
}

AnomalySet with_implied(std::string_view anomaly) {
  const std::size_t id = anomaly_id(anomaly);
  return id == kNotFound ? 0 : tables().implied_anomalies[id];
}

bool is_in(ModelSet set, std::size_t id) { return (set >> id & 1U) != 0; }

std::vector<std::string> names_of(ModelSet set) {
  std::vector<std::string> names;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if (is_in(set, id)) names.emplace_back(kModels[id].name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Those that imply no other member.
ModelSet weakest(ModelSet set) {
  ModelSet result = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    const ModelSet self = ModelSet{1} << id;
    if (is_in(set, id) && (tables().implied[id] & set) == self) result |= self;
  }
  return result;
}

// Those that no other member implies.
ModelSet strongest(ModelSet set) {
  ModelSet covered = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if (is_in(set, id)) covered |= tables().implied[id] & ~(ModelSet{1} << id);
  }
  return set & ~covered;
}

std::vector<std::string_view> make_names() {
  std::vector<std::string_view> names;
  for (const Model& model : kModels) names.push_back(model.name);
  for (const Alias& alias : kAliases) names.push_back(alias.name);
  return names;
}

}  // namespace

std::span<const std::string_view> model_names() {
  static const std::vector<std::string_view> kNames = make_names();
  return kNames;
}

std::string_view canonical_model(std::string_view name) {
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.canonical;
  }
  assert(model_id(name) != kNotFound);
  return name;
}

std::vector<std::string> weakest_ruled_out(std::string_view anomaly) {
  return names_of(weakest(ruled_out(with_implied(anomaly))));
}

bool rules_out(std::string_view anomaly, std::string_view model) {
  return is_in(ruled_out(with_implied(anomaly)), model_id(canonical_model(model)));
}

bool anomaly_implies(std::string_view stronger, std::string_view weaker) {
  const std::size_t id = anomaly_id(weaker);
  return id != kNotFound && (with_implied(stronger) >> id & 1U) != 0;
}

Boundary boundary(std::span<const std::string> anomalies) {
  AnomalySet found = 0;
  for (const std::string& anomaly : anomalies) found |= with_implied(anomaly);
  const ModelSet violated = ruled_out(found);
  const ModelSet all = (ModelSet{1} << kModelCount) - 1;
  return {names_of(weakest(violated)), names_of(violated), names_of(strongest(all & ~violated))};
}

}  // namespace ordeal::cycles
