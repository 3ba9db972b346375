#include "checkers/registers/serial_order.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ordeal::registers {
namespace {

using cycles::NodeId;

class Search {
 public:
  Search(const Inference& inference, const cycles::Graph& graph, cycles::EdgeMask order,
         const std::vector<Position>& priority)
      : inference_(inference),
        graph_(graph),
        priority_(priority),
        edges_(cycles::kData | order),
        waiting_for_(graph.nodes()),
        readers_left_(inference.versions.size()),
        parked_(inference.transactions.history().key_count()) {
    for (KeyId key = 0; key < parked_.size(); ++key) {
      current_.push_back(inference.versions.initial(key));
    }
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      each_successor(node, [&](NodeId to) { ++waiting_for_[to]; });
    }
    for (TxnId txn = 0; txn < graph.txns(); ++txn) {
      if (!graph.committed(txn)) continue;
      ++left_;
      for (const Touch& touch : inference.touches.of(txn)) {
        if (touch.read != kNone) ++readers_left_[touch.read];
      }
    }
  }

  std::vector<TxnId> run() {
    for (NodeId node = 0; node < graph_.nodes(); ++node) {
      if (waiting_for_[node] == 0) make_ready(node);
    }
    while (!ready_.empty()) {
      const NodeId node = ready_.top().second;
      ready_.pop();
      const bool counts = !graph_.is_barrier(node) && graph_.committed(node);
      if (counts && !fits(node)) continue;
      if (counts) execute(node);
      each_successor(node, [&](NodeId to) {
        if (--waiting_for_[to] == 0) make_ready(to);
      });
    }
    return left_ == 0 ? std::move(sequence_) : std::vector<TxnId>{};
  }

 private:
  template <class Visit>
  void each_successor(NodeId node, Visit&& visit) const {
    std::uint32_t cursor = 0;
    for (NodeId to; (to = graph_.next(node, cursor, edges_).node) != kNone;) visit(to);
  }

  void make_ready(NodeId node) {
    ready_.emplace(graph_.is_barrier(node) ? 0 : priority_[node], node);
  }

  // Parks the transaction at the key that keeps it from coming next, if there is one.
  bool fits(TxnId txn) {
    for (const Touch& touch : inference_.touches.of(txn)) {
      const VersionId now = current_[touch.key];
      const bool finds = touch.read == kNone || touch.read == now;
      const bool replaces = touch.write != kNone;
      const std::uint32_t others = readers_left_[now] - (touch.read == now ? 1 : 0);
      if (finds && (!replaces || others == 0)) continue;
      parked_[touch.key].push_back(txn);
      return false;
    }
    return true;
  }

  void execute(TxnId txn) {
    sequence_.push_back(txn);
    --left_;
    for (const Touch& touch : inference_.touches.of(txn)) {
      if (touch.read != kNone) --readers_left_[touch.read];
      if (touch.write != kNone) current_[touch.key] = touch.write;
      for (const TxnId waiting : std::exchange(parked_[touch.key], {})) make_ready(waiting);
    }
  }

  const Inference& inference_;
  const cycles::Graph& graph_;
  const std::vector<Position>& priority_;  // by transaction
  cycles::EdgeMask edges_;
  std::vector<std::uint32_t> waiting_for_;   // by node: predecessors that have not been
  std::vector<std::uint32_t> readers_left_;  // by version
  std::vector<VersionId> current_;           // by key
  std::vector<std::vector<TxnId>> parked_;   // by key
  using Ready = std::pair<Position, NodeId>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::size_t left_ = 0;
  std::vector<TxnId> sequence_;
};

std::vector<Position> by_completion(const Inference& inference) {
  std::vector<Position> priority(inference.transactions.size(), kNoPosition);
  for (TxnId txn = 0; txn < priority.size(); ++txn) {
    if (inference.transactions.ok(txn)) priority[txn] = inference.transactions[txn].completion;
  }
  return priority;
}

// As late as those need it that read what it wrote.
std::vector<Position> by_demand(const Inference& inference) {
  const std::vector<Position> completion = by_completion(inference);
  std::vector<Position> demand(completion.size(), kNoPosition);
  for (TxnId txn = 0; txn < completion.size(); ++txn) {
    for (const Touch& touch : inference.touches.of(txn)) {
      if (touch.read == kNone || inference.versions.is_initial(touch.read)) continue;
      Position& of_writer = demand[inference.versions.write_of(touch.read).txn];
      of_writer = std::min(of_writer, completion[txn]);
    }
  }
  for (TxnId txn = 0; txn < completion.size(); ++txn) {
    if (demand[txn] == kNoPosition) demand[txn] = completion[txn];
  }
  return demand;
}

}  // namespace

std::vector<TxnId> serial_order(const Inference& inference, const cycles::Graph& graph,
                                cycles::EdgeMask order) {
  auto found = Search(inference, graph, order, by_demand(inference)).run();
  if (!found.empty()) return found;
  return Search(inference, graph, order, by_completion(inference)).run();
}

}  // namespace ordeal::registers
