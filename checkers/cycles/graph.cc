#include "checkers/cycles/graph.h"

namespace ordeal::cycles {

std::string_view edge_name(EdgeKind kind) {
  static constexpr std::string_view kNames[] = {"ww", "wr", "rw", "process", "realtime"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Counting sort by source; the edges of a transaction keep their order.
Graph::Graph(const RealTime& real_time, BigVector<TxnId> next_in_process,
             BigVector<std::uint8_t> committed, std::span<const DataEdge> edges)
    : real_time_(real_time),
      txns_(static_cast<std::uint32_t>(committed.size())),
      next_in_process_(std::move(next_in_process)),
      committed_(std::move(committed)),
      offsets_(committed_.size() + 2, 0),
      targets_(edges.size()) {
  for (const DataEdge& edge : edges) ++offsets_[edge.from + 2];
  for (std::size_t at = 2; at < offsets_.size(); ++at) offsets_[at] += offsets_[at - 1];
  for (const DataEdge& edge : edges) {
    targets_[offsets_[edge.from + 1]++] = edge.to << 2 | static_cast<std::uint32_t>(edge.kind);
  }
}

Graph::Successor Graph::next_in_order(TxnId txn, std::uint32_t& cursor, std::uint32_t out,
                                      EdgeMask allowed) const {
  if (cursor == out) {
    ++cursor;
    const TxnId next = next_in_process_[txn];
    if ((allowed & kProcess) != 0 && next != kNone && committed_[next] != 0) {
      return {next, EdgeKind::process};
    }
  }
  if (cursor == out + 1) {
    ++cursor;
    const std::uint32_t barrier = real_time_.after(txn);
    if ((allowed & kRealtime) != 0 && barrier != kNone)
      return {txns_ + barrier, EdgeKind::realtime};
  }
  return {kNone, EdgeKind::realtime};
}

Graph::Successor Graph::next_of_barrier(std::uint32_t barrier, std::uint32_t& cursor,
                                        EdgeMask allowed) const {
  if ((allowed & kRealtime) == 0) return {kNone, EdgeKind::realtime};
  if (cursor == 0) {
    ++cursor;
    if (barrier + 1 < real_time_.barriers()) return {txns_ + barrier + 1, EdgeKind::realtime};
  }
  const TxnId end = real_time_.first_txn(barrier + 1);
  for (TxnId txn = real_time_.first_txn(barrier) + cursor - 1; txn < end; ++txn) {
    ++cursor;
    if (in_real_time(txn)) return {txn, EdgeKind::realtime};
  }
  return {kNone, EdgeKind::realtime};
}

}  // namespace ordeal::cycles
