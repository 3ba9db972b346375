#include "checkers/cycles/version_orders.h"

#include <algorithm>

namespace ordeal::cycles {

LongestReads::LongestReads(const Transactions& transactions)
    : of_key(transactions.history().key_count()) {
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    if (!transactions.ok(txn)) continue;
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      if (micro_op.function != MicroFunction::read || micro_op.length == 0) continue;
      Longest& key = of_key[micro_op.key];
      shared = shared && (key.list_id == kNone || key.list_id == micro_op.list);
      if (micro_op.length < key.list.size()) continue;
      key = {transactions.history().list(micro_op), micro_op.list};
    }
  }
}

VersionOrders::VersionOrders(const Transactions& transactions, Appends& appends,
                             const LongestReads& longest)
    : transactions_(transactions),
      appends_(appends),
      keys_(transactions.history().key_count()),
      observed_(transactions.size()),
      committed_(transactions.size()) {
  std::size_t total = 0;
  for (KeyId key = 0; key < keys_.size(); ++key) {
    keys_[key].list = longest.of_key[key].list;
    keys_[key].list_id = longest.of_key[key].list_id;
    total += keys_[key].list.size();
  }
  order_.reserve(total);
  for (KeyId key = 0; key < keys_.size(); ++key) order_versions(key);
  if (!longest.shared) observe_divergent_reads();
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    committed_[txn] = transactions.ok(txn) || (observed_[txn] && !transactions.failed(txn));
  }
  collect_unread();
}

void VersionOrders::order_versions(KeyId id) {
  Key& key = keys_[id];
  key.offset = order_.size();
  if (appends_.ambiguous(id)) {
    key.list = {};
    return;
  }
  std::vector<Flaws>* flaws = nullptr;
  Flaws so_far;
  for (std::size_t at = 0; at < key.list.size(); ++at) {
    const Value element = key.list[at];
    const AppendId append = appends_.find(id, element);
    const Flaws before = so_far;
    const auto earlier = key.list.first(at);
    // Only an element that nobody appended needs a search for its earlier places.
    const bool repeated = append != kNone
                              ? appends_[append].version != kUnread
                              : std::find(earlier.begin(), earlier.end(), element) != earlier.end();
    if (repeated) {
      key.duplicates = true;
      ++so_far.repeated;
    } else if (append == kNone) {
      ++so_far.garbage;
    } else if (transactions_.failed(appends_[append].txn)) {
      ++so_far.failed;
    }
    if (!repeated) {
      order_.push_back(append);
      ++key.versions;
      if (append != kNone) {
        appends_.set_version(append, key.versions);
        observed_[appends_[append].txn] = true;
      }
    }
    const bool flaw =
        so_far.failed != before.failed || so_far.garbage != before.garbage || repeated;
    if (flaw && flaws == nullptr) {
      key.flawed = true;
      flaws = &flaws_[id];
      flaws->assign(at + 1, Flaws{});
    }
    if (flaws != nullptr) flaws->push_back(so_far);
  }
}

VersionOrders::Flaws VersionOrders::flaws(KeyId key, std::uint32_t length) const {
  if (!keys_[key].flawed) return {};
  return flaws_.at(key)[length];
}

bool VersionOrders::is_prefix(const StoredMicroOp& read) const {
  const Key& key = keys_[read.key];
  if (read.length == 0 || read.list == key.list_id) return true;
  const auto list = transactions_.history().list(read);
  return std::equal(list.begin(), list.end(), key.list.begin());  // none is longer than the longest
}

ReadState VersionOrders::resolve(const StoredMicroOp& read) const {
  if (read.length == 0) return {0, kNone, true};
  if (appends_.ambiguous(read.key)) return {kUnread, kNone, true};
  const Key& key = keys_[read.key];
  if (read.length <= key.list.size() && is_prefix(read)) {
    const std::uint32_t repeated = key.duplicates ? flaws(read.key, read.length).repeated : 0;
    const std::uint32_t version = read.length - repeated;
    return {version, append_of(read.key, version), true};
  }
  const AppendId last = appends_.find(read.key, transactions_.history().list(read).back());
  return {last == kNone ? kUnread : appends_[last].version, last, false};
}

// Elements that only incompatible reads show have been observed as well.
void VersionOrders::observe_divergent_reads() {
  for (TxnId txn = 0; txn < transactions_.size(); ++txn) {
    if (!transactions_.ok(txn)) continue;
    for (const StoredMicroOp& micro_op : transactions_.micro_ops(txn)) {
      if (micro_op.function != MicroFunction::read || appends_.ambiguous(micro_op.key)) continue;
      if (is_prefix(micro_op)) continue;
      for (const Value element : transactions_.history().list(micro_op)) {
        const AppendId append = appends_.find(micro_op.key, element);
        if (append != kNone) observed_[appends_[append].txn] = true;
      }
    }
  }
}

void VersionOrders::collect_unread() {
  unread_offset_.assign(keys_.size() + 1, 0);
  std::vector<TxnId> last(keys_.size(), kNone);
  const auto for_each = [&](auto&& visit) {
    std::fill(last.begin(), last.end(), kNone);
    for (const Append& append : appends_.all()) {
      const KeyId key = append.micro_op->key;
      if (append.version != kUnread || !committed(append.txn) || last[key] == append.txn) continue;
      if (appends_.ambiguous(key)) continue;
      last[key] = append.txn;
      visit(key, append.txn);
    }
  };
  for_each([&](KeyId key, TxnId) { ++unread_offset_[key + 1]; });
  for (std::size_t key = 0; key < keys_.size(); ++key)
    unread_offset_[key + 1] += unread_offset_[key];
  unread_.resize(unread_offset_.back());
  std::vector<std::size_t> next(unread_offset_.begin(), unread_offset_.end() - 1);
  for_each([&](KeyId key, TxnId txn) { unread_[next[key]++] = txn; });
}

std::span<const TxnId> VersionOrders::unread_appenders(KeyId key) const {
  return std::span(unread_).subspan(unread_offset_[key],
                                    unread_offset_[key + 1] - unread_offset_[key]);
}

}  // namespace ordeal::cycles
