// Reads and appends against what the same transaction did before: internal, future-read,
// cyclic-versions.
#include <fmt/format.h>

#include <algorithm>

#include "checkers/cycles/direct_finder.h"

namespace ordeal::cycles {

// internal. Cerone's axiom INT: a read agrees with the transaction's own latest read of the key and
// its appends since.
void DirectFinder::check_own_state(TxnId txn, std::uint32_t at, const StoredMicroOp& read,
                                   Touched& touched) {
  if (own_state_wrong_) return;  // one a transaction
  const auto micro_ops = transactions_.micro_ops(txn);
  const auto list = history_.list(read);
  std::vector<Value> expected;  // own appends since the base
  const std::uint32_t since = touched.base == kNone ? 0 : touched.base + 1;
  for (std::uint32_t own = since; touched.appended_since && own < at; ++own) {
    const bool counts =
        micro_ops[own].key == read.key && micro_ops[own].function == MicroFunction::append;
    if (counts) expected.push_back(micro_ops[own].value);
  }
  bool right = list.size() >= expected.size() &&
               std::equal(expected.begin(), expected.end(),
                          list.end() - static_cast<std::ptrdiff_t>(expected.size()));
  if (right && touched.base != kNone) {
    const StoredMicroOp& base = micro_ops[touched.base];
    const auto before = history_.list(base);
    right = list.size() == before.size() + expected.size() &&
            (base.list == read.list || std::equal(before.begin(), before.end(), list.begin()));
  }
  if (right) return;
  own_state_wrong_ = true;
  if (!note(kInternal)) return;
  std::vector<Value> wanted;
  if (touched.base != kNone) {
    const auto before = history_.list(micro_ops[touched.base]);
    wanted.assign(before.begin(), before.end());
  }
  wanted.insert(wanted.end(), expected.begin(), expected.end());
  std::string state = list_text(wanted);
  if (touched.base == kNone) state.insert(1, "... ");
  show(
      kInternal, {txn}, read.key, {list.begin(), list.end()},
      fmt::format(
          "{} read {} from key {}, but by its own earlier reads and appends it should have read {}",
          text(txn), list_text(list), key_text(read.key), state));
}

// cyclic-versions: the version order reverses two appends of one transaction. An append that was
// not read comes after those that were.
void DirectFinder::check_own_order(TxnId txn, const Append& first, const Append& second) {
  if (second.version == kUnread || second.version > first.version) return;
  if (appends_.ambiguous(first.micro_op->key) || !note(kCyclic)) return;
  const KeyId key = first.micro_op->key;
  const Value earlier = first.micro_op->value;
  const Value later = second.micro_op->value;
  const std::string seen =
      first.version == kUnread
          ? fmt::format("the longest read of the key has {} without {}", later.text(),
                        earlier.text())
          : fmt::format("reads have {} before {}", later.text(), earlier.text());
  show(kCyclic, {txn}, key, {earlier, later},
       fmt::format("{} appended {} to key {} before {}, but {}: {}", text(txn), earlier.text(),
                   key_text(key), later.text(), seen,
                   list_text(orders_.longest_read(key), second.version - 1)));
}

// future-read: a read shows an element that its own transaction appends later.
void DirectFinder::check_future(TxnId txn, std::uint32_t before, const StoredMicroOp& append) {
  const auto micro_ops = transactions_.micro_ops(txn);
  const AppendId id = appends_.find(append.key, append.value);
  const bool own = id != kNone && appends_[id].txn == txn;
  for (std::uint32_t at = 0; own && at < before; ++at) {
    const StoredMicroOp& read = micro_ops[at];
    if (read.function != MicroFunction::read || read.key != append.key) continue;
    const ReadState state = orders_.resolve(read);
    const auto list = history_.list(read);
    const bool saw = state.compatible
                         ? state.version != kUnread && appends_[id].version <= state.version
                         : std::find(list.begin(), list.end(), append.value) != list.end();
    if (!saw) continue;
    if (note(kFuture)) {
      show(kFuture, {txn}, append.key, {append.value},
           fmt::format("{} read {} in key {} before it appended it", text(txn), append.value.text(),
                       key_text(append.key)));
    }
    return;
  }
}

}  // namespace ordeal::cycles
