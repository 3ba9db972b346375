// The dependency graph of committed transactions (Adya 1999, section 3.1: ww, wr, rw), with session
// and real-time order. Data edges lie in one array (compressed sparse rows); session and real-time
// edges are implicit, see transactions.h. No transaction depends on itself here.
//
// Nodes 0 .. txns() - 1 are transactions; the rest are the barriers of RealTime.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkers/cycles/transactions.h"

namespace ordeal::cycles {

enum class EdgeKind : std::uint8_t { ww, wr, rw, process, realtime };
std::string_view edge_name(EdgeKind kind);

using EdgeMask = std::uint8_t;
constexpr EdgeMask bit(EdgeKind kind) {
  return static_cast<EdgeMask>(1U << static_cast<unsigned>(kind));
}
inline constexpr EdgeMask kWw = bit(EdgeKind::ww);
inline constexpr EdgeMask kWr = bit(EdgeKind::wr);
inline constexpr EdgeMask kRw = bit(EdgeKind::rw);
inline constexpr EdgeMask kProcess = bit(EdgeKind::process);
inline constexpr EdgeMask kRealtime = bit(EdgeKind::realtime);
inline constexpr EdgeMask kData = kWw | kWr | kRw;

using NodeId = std::uint32_t;

struct DataEdge {
  TxnId from = kNone;
  TxnId to = kNone;
  EdgeKind kind = EdgeKind::ww;
};

// One edge of a cycle, the first to the last in its order.
struct CycleStep {
  TxnId from = kNone;
  TxnId to = kNone;
  EdgeKind kind = EdgeKind::ww;
  friend bool operator==(const CycleStep&, const CycleStep&) = default;
};
using Cycle = std::vector<CycleStep>;

class Graph {
 public:
  // `real_time` must outlive the graph; `next_in_process` as process_successors() makes it;
  // `committed` has one byte per transaction: the others are in no edge.
  Graph(const RealTime& real_time, BigVector<TxnId> next_in_process,
        BigVector<std::uint8_t> committed, std::span<const DataEdge> edges);

  std::uint32_t txns() const { return txns_; }
  std::uint32_t nodes() const { return txns_ + real_time_.barriers(); }
  bool is_barrier(NodeId node) const { return node >= txns_; }
  const RealTime& real_time() const { return real_time_; }
  TxnId next_in_process(TxnId txn) const { return next_in_process_[txn]; }
  bool committed(TxnId txn) const { return committed_[txn] != 0; }
  // Whether an earlier completion may precede it in real time.
  bool in_real_time(TxnId txn) const { return committed_[txn] != 0 && real_time_.has_start(txn); }

  struct Edge {
    TxnId to;
    EdgeKind kind;
  };
  std::uint32_t degree(TxnId txn) const {
    return static_cast<std::uint32_t>(offsets_[txn + 1] - offsets_[txn]);
  }
  Edge edge(TxnId txn, std::uint32_t at) const {
    const std::uint32_t packed = targets_[offsets_[txn] + at];
    return {packed >> 2, static_cast<EdgeKind>(packed & 3U)};
  }
  std::size_t data_edges() const { return targets_.size(); }

  // The successor of `node` by an allowed edge at or after place `cursor`, which is moved behind
  // it; kNone at the end. Real time leads through barriers.
  struct Successor {
    NodeId node;
    EdgeKind kind;
  };
  Successor next(NodeId node, std::uint32_t& cursor, EdgeMask allowed) const {
    if (is_barrier(node)) return next_of_barrier(node - txns_, cursor, allowed);
    const std::uint32_t out = degree(node);
    while (cursor < out) {
      const Edge found = edge(node, cursor++);
      if ((allowed & bit(found.kind)) != 0) return {found.to, found.kind};
    }
    return next_in_order(node, cursor, out, allowed);
  }

 private:
  Successor next_in_order(TxnId txn, std::uint32_t& cursor, std::uint32_t out,
                          EdgeMask allowed) const;
  Successor next_of_barrier(std::uint32_t barrier, std::uint32_t& cursor, EdgeMask allowed) const;

  const RealTime& real_time_;
  std::uint32_t txns_;
  BigVector<TxnId> next_in_process_;
  BigVector<std::uint8_t> committed_;
  BigVector<std::size_t> offsets_;
  BigVector<std::uint32_t> targets_;  // transaction << 2 | kind
};

}  // namespace ordeal::cycles
