#include "checkers/registers/inference.h"

#include <fmt/format.h>

#include <numeric>

namespace ordeal::registers {

using cycles::EdgeKind;

Inference::Inference(const History& history, Assumptions assumptions)
    : transactions(history),
      versions(transactions),
      touches(transactions, versions),
      orders(transactions, versions, touches, assumptions),
      real_time(transactions) {
  collect_readers();
}

void Inference::collect_readers() {
  reader_offsets_.assign(versions.size() + 1, 0);
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const Touch& touch : touches.of(txn)) {
      if (touch.read != kNone) ++reader_offsets_[touch.read + 1];
    }
  }
  std::partial_sum(reader_offsets_.begin(), reader_offsets_.end(), reader_offsets_.begin());
  readers_.resize(reader_offsets_.back());
  std::vector<std::size_t> next(reader_offsets_.begin(), reader_offsets_.end() - 1);
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const Touch& touch : touches.of(txn)) {
      if (touch.read != kNone) readers_[next[touch.read]++] = txn;
    }
  }
}

TxnId Inference::writer(VersionId version) const {
  const Write& write = versions.write_of(version);
  const bool counts = write.micro_op != nullptr && write.final && touches.committed(write.txn);
  return counts ? write.txn : kNone;
}

template <class Visit>
void Inference::edges_to_write(TxnId txn, const Touch& touch, Visit&& visit) const {
  bool first = true;  // no known version between the initial one and this
  for (const auto& [earlier, source] : orders.before(touch.write)) {
    if (versions.is_initial(earlier) || orders.cyclic(touch.key)) continue;
    const TxnId before = writer(earlier);
    first = first && before == kNone;
    if (before != kNone && before != txn) visit(before, txn, EdgeKind::ww, earlier, touch.write);
    for (const TxnId reader : readers(earlier)) {
      if (reader != txn) visit(reader, txn, EdgeKind::rw, earlier, touch.write);
    }
  }
  // Who read the initial version comes before all writers, and before most by way of ww.
  if (!first) return;
  const VersionId initial = versions.initial(touch.key);
  for (const TxnId reader : readers(initial)) {
    if (reader != txn) visit(reader, txn, EdgeKind::rw, initial, touch.write);
  }
}

template <class Visit>
void Inference::for_each_edge_to(TxnId txn, Visit&& visit) const {
  for (const Touch& touch : touches.of(txn)) {
    if (touch.read != kNone) {
      const TxnId from = writer(touch.read);
      if (from != kNone && from != txn) visit(from, txn, EdgeKind::wr, touch.read, touch.read);
    }
    if (touch.write != kNone) edges_to_write(txn, touch, visit);
  }
}

cycles::Graph Inference::graph() const {
  std::vector<cycles::DataEdge> edges;
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for_each_edge_to(txn, [&](TxnId from, TxnId to, EdgeKind kind, VersionId, VersionId) {
      edges.push_back({from, to, kind});
    });
  }
  return cycles::Graph(real_time, process_successors(transactions), touches.committed(), edges);
}

std::optional<Inference::Reason> Inference::reason(TxnId from, TxnId to, EdgeKind kind) const {
  std::optional<Reason> found;
  for_each_edge_to(to, [&](TxnId a, TxnId, EdgeKind k, VersionId earlier, VersionId later) {
    if (found || a != from || k != kind) return;
    const StoredMicroOp& write = *versions.write_of(later).micro_op;
    found = Reason{write.key, std::nullopt, std::nullopt};
    const StoredMicroOp* before = versions.write_of(earlier).micro_op;
    if (before != nullptr) found->value = before->value;
    if (kind != EdgeKind::wr) found->next_value = write.value;
  });
  return found;
}

std::string Inference::words(const cycles::CycleStep& step, const Reason& reason,
                             std::string_view from, std::string_view to) const {
  const std::string key = transactions.history().key(reason.key).text();
  const std::string value = reason.value ? reason.value->text() : "nil";
  if (step.kind == EdgeKind::wr)
    return fmt::format("{} read {}'s write of {} to {}", to, from, value, key);
  const std::string next = reason.next_value->text();
  if (step.kind == EdgeKind::ww) {
    return fmt::format("{} set {} to {}, which {} set to {} later in the version order", from, key,
                       value, to, next);
  }
  if (!reason.value) {
    return fmt::format("{} read the initial (nil) state of {}, which {}'s write of {} replaced",
                       from, key, to, next);
  }
  return fmt::format("{} read {} as {}, a version before {}'s write of {}", from, key, value, to,
                     next);
}

}  // namespace ordeal::registers
