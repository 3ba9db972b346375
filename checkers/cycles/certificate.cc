#include "checkers/cycles/certificate.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace ordeal::cycles {
namespace {

using Place = std::uint32_t;

// Kahn's algorithm: the nodes such that every edge leads from earlier to later, and among those
// that may come next the one with the least priority. Shorter than `priority` if the graph has a
// cycle.
template <class EachSuccessor>
std::vector<NodeId> topological_order(const std::vector<Position>& priority,
                                      EachSuccessor&& each_successor) {
  std::vector<std::uint32_t> waiting_for(priority.size());
  for (NodeId node = 0; node < priority.size(); ++node) {
    each_successor(node, [&](NodeId to) { ++waiting_for[to]; });
  }
  using Ready = std::pair<Position, NodeId>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  for (NodeId node = 0; node < priority.size(); ++node) {
    if (waiting_for[node] == 0) ready.emplace(priority[node], node);
  }
  std::vector<NodeId> order;
  order.reserve(priority.size());
  while (!ready.empty()) {
    const NodeId node = ready.top().second;
    ready.pop();
    order.push_back(node);
    each_successor(node, [&](NodeId to) {
      if (--waiting_for[to] == 0) ready.emplace(priority[to], to);
    });
  }
  return order;
}

// An info transaction may have taken effect at any time: late.
Position end_of(const Transaction& transaction) {
  return transaction.status == TxnStatus::ok ? transaction.completion : kNoPosition;
}

std::vector<CertificateLine> serial(const Transactions& transactions, const Graph& graph,
                                    EdgeMask order) {
  std::vector<Position> priority(graph.nodes(), 0);
  for (TxnId txn = 0; txn < graph.txns(); ++txn) priority[txn] = end_of(transactions[txn]);
  const auto sorted = topological_order(priority, [&](NodeId node, auto&& visit) {
    std::uint32_t cursor = 0;
    for (NodeId to; (to = graph.next(node, cursor, kData | order).node) != kNone;) visit(to);
  });
  std::vector<CertificateLine> lines;
  for (const NodeId node : sorted) {
    const bool counts = !graph.is_barrier(node) && graph.committed(node);
    if (counts) lines.push_back({transactions.operation_index(node), 0, 0});
  }
  return lines;
}

// Node v < nodes() is the commit of transaction v, or a barrier; nodes() + v its start. What a
// transaction depends on by ww, wr, session or real time had committed when it started; what
// overwrites one of its reads commits after it started. So a cycle of that graph is one of the
// dependency graph without adjacent rw edges.
class Snapshots {
 public:
  Snapshots(const Transactions& transactions, const Graph& graph, EdgeMask order)
      : transactions_(transactions),
        graph_(graph),
        after_commit_(kWw | kWr | order),
        priority_(graph.nodes() + graph.txns(), 0),
        next_rivals_(graph.txns()) {
    for (TxnId txn = 0; txn < graph.txns(); ++txn) {
      priority_[txn] = end_of(transactions[txn]);
      const Position invocation = transactions[txn].invocation;
      priority_[start_of(txn)] = invocation == kNoPosition ? 0 : invocation;
    }
  }

  std::vector<CertificateLine> lines(const std::vector<Rivals>& rivals) {
    if (!sort()) return {};
    for (Rivals group : rivals) {
      std::sort(group.begin(), group.end(),
                [&](TxnId a, TxnId b) { return place_[a] < place_[b]; });
      for (std::size_t at = 1; at < group.size(); ++at) {
        next_rivals_[group[at - 1]].push_back(group[at]);
      }
    }
    if (!rivals.empty() && !sort()) return {};
    std::vector<CertificateLine> lines;
    for (const NodeId node : order_) {
      if (node >= graph_.txns() || !graph_.committed(node)) continue;
      lines.push_back({transactions_.operation_index(node), place_[start_of(node)], place_[node]});
    }
    return lines;
  }

 private:
  NodeId start_of(TxnId txn) const { return graph_.nodes() + txn; }

  template <class Visit>
  void each_successor(NodeId node, Visit&& visit) const {
    std::uint32_t cursor = 0;
    if (node >= graph_.nodes()) {
      const TxnId txn = node - graph_.nodes();
      visit(txn);
      for (NodeId to; (to = graph_.next(txn, cursor, kRw).node) != kNone;) visit(to);
      return;
    }
    for (NodeId to; (to = graph_.next(node, cursor, after_commit_).node) != kNone;) {
      visit(graph_.is_barrier(to) ? to : start_of(to));
    }
    if (graph_.is_barrier(node)) return;
    for (const TxnId next : next_rivals_[node]) visit(start_of(next));
  }

  bool sort() {
    order_ = topological_order(priority_, [&](NodeId node, auto&& visit) {
      each_successor(node, std::forward<decltype(visit)>(visit));
    });
    place_.assign(priority_.size(), 0);
    for (Place place = 0; place < order_.size(); ++place) place_[order_[place]] = place;
    return order_.size() == priority_.size();
  }

  const Transactions& transactions_;
  const Graph& graph_;
  EdgeMask after_commit_;
  std::vector<Position> priority_;
  std::vector<std::vector<TxnId>> next_rivals_;
  std::vector<NodeId> order_;
  std::vector<Place> place_;  // by node, in order_
};

std::vector<CertificateLine> certificate(const Transactions& transactions, const Graph& graph,
                                         ProofPlan plan, const std::vector<Rivals>& rivals) {
  if (plan.proof == Proof::none) return {};
  if (plan.proof == Proof::serial) return serial(transactions, graph, plan.order);
  return Snapshots(transactions, graph, plan.order).lines(rivals);
}

}  // namespace

ProofPlan proof_plan(std::string_view model) {
  if (model == "serializable") return {Proof::serial, 0};
  if (model == "strong-session-serializable") return {Proof::serial, kProcess};
  if (model == "strict-serializable") return {Proof::serial, kProcess | kRealtime};
  if (model == "snapshot-isolation") return {Proof::snapshots, 0};
  if (model == "strong-session-snapshot-isolation") return {Proof::snapshots, kProcess};
  if (model == "strong-snapshot-isolation") return {Proof::snapshots, kProcess | kRealtime};
  return {};
}

void prove(CheckResult& result, const Transactions& transactions, const Graph& graph,
           const std::vector<Rivals>& rivals) {
  const ProofPlan plan = proof_plan(result.model);
  result.certificate = certificate(transactions, graph, plan, rivals);
  if (!result.certificate.empty()) return;
  result.certificate_note =
      plan.proof == Proof::none
          ? fmt::format(
                "{} is not about an order of transactions; serializable, "
                "snapshot-isolation and their strong forms have certificates",
                result.model)
          : "no order of the writes that nobody read was found in which no two overlap";
}

}  // namespace ordeal::cycles
