#include "checkers/registers/version_orders.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "checkers/cycles/scc.h"

namespace ordeal::registers {

using cycles::Transaction;

std::string_view source_name(Source source) {
  static constexpr std::string_view kNames[] = {"initial", "wfr", "process", "realtime"};
  return kNames[static_cast<std::size_t>(source)];
}

VersionOrders::VersionOrders(const Transactions& transactions, const Versions& versions,
                             const Touches& touches, Assumptions assumptions)
    : cyclic_(transactions.history().key_count()) {
  if (assumptions.wfr_keys) infer_in_transactions(transactions, touches);
  if (assumptions.sequential_keys) infer_in_processes(transactions, touches);
  if (assumptions.linearizable_keys) infer_in_real_time(transactions, touches);
  lay_out(versions);
  find_cycles(versions);
}

void VersionOrders::infer_in_transactions(const Transactions& transactions,
                                          const Touches& touches) {
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const Touch& touch : touches.of(txn)) add(touch.read, touch.write, Source::wfr);
  }
}

// The last version that a process saw or wrote of each key. What an info transaction did may take
// effect at any later time, so nothing follows it.
void VersionOrders::infer_in_processes(const Transactions& transactions, const Touches& touches) {
  std::unordered_map<ProcessId, std::map<KeyId, VersionId>> latest;
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    if (touches.of(txn).empty()) continue;
    auto& known = latest[transactions.reported_event(txn).process];
    for (const Touch& touch : touches.of(txn)) {
      if (touch.first() == kNone) continue;
      const auto [found, is_new] = known.try_emplace(touch.key, kNone);
      add(found->second, touch.first(), Source::process);
      if (transactions.ok(txn)) found->second = touch.last();
    }
  }
}

// By key, the ok transactions that completed and whose version no later completed one follows. When
// one completes it takes the place of those that had completed before it was invoked.
void VersionOrders::infer_in_real_time(const Transactions& transactions, const Touches& touches) {
  struct Done {
    Position invocation, completion;
    VersionId last;
  };
  const History& history = transactions.history();
  std::vector<std::vector<Done>> frontiers(history.key_count());
  std::vector<TxnId> of_event(history.size(), kNone);
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    const Transaction& transaction = transactions[txn];
    if (transaction.invocation != kNoPosition) of_event[transaction.invocation] = txn;
    if (transaction.completion != kNoPosition) of_event[transaction.completion] = txn;
  }
  for (Position position = 0; position < history.size(); ++position) {
    const TxnId txn = of_event[position];
    if (txn == kNone || transactions[txn].invocation == kNoPosition) continue;
    const bool begins = transactions[txn].invocation == position;
    if (!begins && !transactions.ok(txn)) continue;
    for (const Touch& touch : touches.of(txn)) {
      if (touch.first() == kNone) continue;
      auto& frontier = frontiers[touch.key];
      if (begins) {
        for (const Done& done : frontier) add(done.last, touch.first(), Source::realtime);
        continue;
      }
      std::erase_if(frontier, [&](const Done& done) {
        return done.completion < transactions[txn].invocation;
      });
      frontier.push_back({transactions[txn].invocation, position, touch.last()});
    }
  }
}

// Sorts the edges by target, without repetition: of several sources the first counts.
void VersionOrders::lay_out(const Versions& versions) {
  const auto order = [](const Edge& edge) { return std::tuple(edge.to, edge.from, edge.source); };
  std::sort(edges_.begin(), edges_.end(),
            [&](const Edge& a, const Edge& b) { return order(a) < order(b); });
  edges_.erase(
      std::unique(edges_.begin(), edges_.end(),
                  [](const Edge& a, const Edge& b) { return a.from == b.from && a.to == b.to; }),
      edges_.end());
  offsets_.assign(versions.size() + 1, 0);
  for (const Edge& edge : edges_) ++offsets_[edge.to + 1];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  for (const Edge& edge : edges_) predecessors_.push_back({edge.from, edge.source});
  edges_ = {};
}

// Among predecessors, and the initial version before each version that was written.
void VersionOrders::find_cycles(const Versions& versions) {
  if (predecessors_.empty()) return;
  std::vector<VersionId> initial_of(versions.size());
  for (KeyId key = 0; key < cyclic_.size(); ++key) {
    std::fill(initial_of.begin() + versions.initial(key), initial_of.begin() + versions.end(key),
              versions.initial(key));
  }
  std::vector<VersionId> all(versions.size());
  std::iota(all.begin(), all.end(), 0U);
  const cycles::Partition partition = cycles::strongly_connected(
      versions.size(), all, [&](VersionId version, std::uint32_t& cursor) {
        const auto known = before(version);
        if (cursor < known.size()) return known[cursor++].version;
        const bool more = cursor++ == known.size() && initial_of[version] != version;
        return more ? initial_of[version] : kNone;
      });
  std::map<std::uint32_t, VersionCycle> found;  // by component
  for (KeyId key = 0; key < cyclic_.size(); ++key) {
    for (VersionId version = versions.initial(key); version < versions.end(key); ++version) {
      if (!partition.nontrivial(version)) continue;
      cyclic_[key] = true;
      VersionCycle& cycle = found[partition.component[version]];
      cycle.key = key;
      cycle.versions.push_back(version);
    }
  }
  for (auto& [component, cycle] : found) cycles_.push_back(std::move(cycle));
  std::sort(cycles_.begin(), cycles_.end(),
            [](const VersionCycle& a, const VersionCycle& b) { return a.versions < b.versions; });
}

}  // namespace ordeal::registers
