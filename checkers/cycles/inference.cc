#include "checkers/cycles/inference.h"

#include <fmt/format.h>

#include <algorithm>

#include "checkers/cycles/threads.h"

namespace ordeal::cycles {

Inference::Aside::Aside(const Transactions& transactions)
    : longest_reads(transactions),
      real_time(transactions),
      next_in_process(process_successors(transactions)) {
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      const bool write = micro_op.function == MicroFunction::write;
      const bool register_read =
          micro_op.function == MicroFunction::read && !micro_op.value.is_nil();
      if (!write && !register_read) continue;
      foreign = &micro_op;
      foreign_txn = txn;
      return;
    }
  }
}

Inference::Inference(const History& history)
    : transactions(history),
      pending_(std::async(aside_from(transactions.size()), [this] { return Aside(transactions); })),
      appends(transactions),
      aside_(pending_.get()),
      orders(transactions, appends, aside_.longest_reads),
      real_time(aside_.real_time) {}

AppendId Inference::committed_at_or_before(KeyId key, std::uint32_t version) const {
  for (; version > 0; --version) {
    const AppendId append = orders.append_of(key, version);
    if (append != kNone && orders.committed(appends[append].txn)) return append;
  }
  return kNone;
}

AppendId Inference::committed_after(KeyId key, std::uint32_t version) const {
  const std::uint32_t versions = orders.versions(key);
  while (version < versions) {
    const AppendId append = orders.append_of(key, ++version);
    if (append != kNone && orders.committed(appends[append].txn)) return append;
  }
  return kNone;
}

// visit(from, to, kind, key, earlier append or kNone, later append or kNone)
template <class Visit>
void Inference::edges_of_append(TxnId txn, const Append& append, Visit&& visit) const {
  const KeyId key = append.micro_op->key;
  const auto id = static_cast<AppendId>(&append - appends.all().data());
  const std::uint32_t before =
      append.version == kUnread ? orders.versions(key) : append.version - 1;
  const AppendId previous = committed_at_or_before(key, before);
  if (previous != kNone && appends[previous].txn != txn) {
    visit(appends[previous].txn, txn, EdgeKind::ww, key, previous, id);
  }
}

template <class Visit>
void Inference::edges_of_read(TxnId txn, const StoredMicroOp& read, Visit&& visit) const {
  const ReadState state = orders.resolve(read);
  const TxnId writer = state.last == kNone ? kNone : appends[state.last].txn;
  if (writer != kNone && writer != txn && orders.committed(writer)) {
    visit(writer, txn, EdgeKind::wr, read.key, state.last, kNone);
  }
  // What follows one's own append follows it by ww already.
  if (state.version == kUnread || writer == txn) return;
  AppendId next = committed_after(read.key, state.version);
  // A read that is no prefix of the order has seen some of what comes later in it.
  const auto seen = transactions.history().list(read);
  const auto saw = [&](AppendId append) {
    return std::find(seen.begin(), seen.end(), appends[append].micro_op->value) != seen.end();
  };
  while (!state.compatible && next != kNone && saw(next)) {
    next = committed_after(read.key, appends[next].version);
  }
  if (next != kNone) {
    if (appends[next].txn != txn)
      visit(txn, appends[next].txn, EdgeKind::rw, read.key, state.last, next);
    return;
  }
  for (const TxnId later : orders.unread_appenders(read.key)) {
    if (later != txn) visit(txn, later, EdgeKind::rw, read.key, state.last, kNone);
  }
}

template <class Visit>
void Inference::for_each_edge_of(TxnId txn, Visit&& visit) const {
  if (!orders.committed(txn)) return;
  AppendId append = appends.first_of(txn);
  for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
    const bool is_append = micro_op.function == MicroFunction::append;
    if (is_append) ++append;
    if (appends.ambiguous(micro_op.key)) continue;
    if (is_append) {
      edges_of_append(txn, appends[append - 1], visit);
    } else if (micro_op.has_list || transactions.shows_reads(txn)) {
      edges_of_read(txn, micro_op, visit);  // an ok read of nil is one of the empty list
    }
  }
}

BigVector<DataEdge> Inference::edges() const {
  BigVector<DataEdge> result;
  result.reserve(3 * appends.all().size() + 16);
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for_each_edge_of(txn, [&](TxnId from, TxnId to, EdgeKind kind, KeyId, AppendId, AppendId) {
      result.push_back({from, to, kind});
    });
  }
  return result;
}

Graph Inference::graph() const {
  BigVector<std::uint8_t> committed(transactions.size());
  for (TxnId txn = 0; txn < transactions.size(); ++txn) committed[txn] = orders.committed(txn);
  return Graph(real_time, aside_.next_in_process, std::move(committed), edges());
}

std::optional<Inference::Reason> Inference::reason(TxnId from, TxnId to, EdgeKind kind) const {
  std::optional<Reason> found;
  const auto look = [&](TxnId a, TxnId b, EdgeKind k, KeyId key, AppendId earlier, AppendId later) {
    if (found || a != from || b != to || k != kind) return;
    found = Reason{key, std::nullopt, std::nullopt};
    if (earlier != kNone) found->value = appends[earlier].micro_op->value;
    if (kind == EdgeKind::wr) return;
    for (AppendId id = appends.first_of(to); later == kNone && id < appends.first_of(to + 1);
         ++id) {
      const bool unread = appends[id].version == kUnread && appends[id].micro_op->key == key;
      if (unread) later = id;
    }
    found->next_value = appends[later].micro_op->value;
  };
  for_each_edge_of(kind == EdgeKind::rw ? from : to, look);
  return found;
}

std::string Inference::words(const CycleStep& step, const Reason& reason, std::string_view from,
                             std::string_view to) const {
  const std::string key = transactions.history().key(reason.key).text();
  if (step.kind == EdgeKind::wr) {
    return fmt::format("{} observed {}'s append of {} to key {}", to, from, reason.value->text(),
                       key);
  }
  const std::string next = reason.next_value->text();
  if (step.kind == EdgeKind::ww) {
    return fmt::format("{} appended {} after {} appended {} to {}", to, next, from,
                       reason.value->text(), key);
  }
  if (!reason.value) {
    return fmt::format(
        "{} observed the initial (nil) state of {}, which {} created by appending {}", from, key,
        to, next);
  }
  return fmt::format("{} did not observe {}'s append of {} to {}", from, to, next, key);
}

}  // namespace ordeal::cycles
