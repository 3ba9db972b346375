#include <algorithm>
#include <bit>
#include <limits>

#include "checkers/cycles/version_orders.h"

namespace ordeal::cycles {
namespace {

std::size_t hash(KeyId key, Value element) {
  const std::uint64_t mixed = (element.bits() + 0x9e3779b97f4a7c15U) * (2 * std::uint64_t{key} + 1);
  return static_cast<std::size_t>((mixed ^ (mixed >> 29)) * 0xbf58476d1ce4e5b9U >> 17);
}

}  // namespace

void Appends::Extent::add(Value value) {
  ++count;
  only_integers = only_integers && value.is_integer();
  if (!value.is_integer()) return;
  low = std::min(low, value.integer());
  high = std::max(high, value.integer());
}

// An array serves where it is at most a few times larger than what it holds.
bool Appends::Extent::dense() const {
  if (!only_integers || count == 0) return false;
  const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  return width < 4 * count + 64;
}

Appends::Appends(const Transactions& transactions) {
  const std::size_t keys = transactions.history().key_count();
  lay_out(collect(transactions));
  for (AppendId id = 0; id < all_.size(); ++id) index(transactions, id, keys);
}

std::vector<Appends::Extent> Appends::collect(const Transactions& transactions) {
  std::vector<Extent> extents(transactions.history().key_count());
  std::vector<AppendId> last_to_key(extents.size(), kNone);
  first_of_.reserve(transactions.size() + 1);
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    first_of_.push_back(static_cast<AppendId>(all_.size()));
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      if (micro_op.function != MicroFunction::append) continue;
      AppendId& last = last_to_key[micro_op.key];
      if (last != kNone && all_[last].txn == txn) all_[last].intermediate = true;
      last = static_cast<AppendId>(all_.size());
      all_.push_back({&micro_op, txn, kUnread, false});
      extents[micro_op.key].add(micro_op.value);
    }
  }
  first_of_.push_back(static_cast<AppendId>(all_.size()));
  return extents;
}

void Appends::lay_out(const std::vector<Extent>& extents) {
  ranges_.resize(extents.size());
  std::size_t slots = 0;
  std::size_t in_table = 0;
  for (std::size_t key = 0; key < extents.size(); ++key) {
    const Extent& extent = extents[key];
    if (!extent.dense()) {
      in_table += extent.count;
      continue;
    }
    ranges_[key] = {extent.low, static_cast<std::uint32_t>(extent.high - extent.low + 1), slots};
    slots += ranges_[key].slots;
  }
  dense_.assign(slots, kNone);
  if (in_table > 0) table_.assign(std::bit_ceil(in_table * 2), kNone);
}

const AppendId& Appends::table_slot(KeyId key, Value element) const {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = hash(key, element) & mask;; at = (at + 1) & mask) {
    const AppendId& found = table_[at];
    if (found == kNone) return found;
    if (all_[found].micro_op->key == key && all_[found].micro_op->value == element) return found;
  }
}

AppendId& Appends::table_slot(KeyId key, Value element) {
  return const_cast<AppendId&>(std::as_const(*this).table_slot(key, element));
}

AppendId& Appends::slot(KeyId key, Value element) {
  const Range& range = ranges_[key];
  if (range.slots == 0) return table_slot(key, element);
  return dense_[range.offset + static_cast<std::size_t>(element.integer() - range.low)];
}

AppendId Appends::find(KeyId key, Value element) const {
  const Range& range = ranges_[key];
  if (range.slots == 0) return table_.empty() ? kNone : table_slot(key, element);
  if (!element.is_integer()) return kNone;
  const auto place =
      static_cast<std::uint64_t>(element.integer()) - static_cast<std::uint64_t>(range.low);
  return place < range.slots ? dense_[range.offset + place] : kNone;
}

// Of two appends of one element, one that failed certainly did not happen, so the other is the
// writer.
void Appends::index(const Transactions& transactions, AppendId id, std::size_t keys) {
  const Append& append = all_[id];
  AppendId& found = slot(append.micro_op->key, append.micro_op->value);
  if (found == kNone || transactions.failed(all_[found].txn)) {
    found = id;
    return;
  }
  if (transactions.failed(append.txn)) return;
  ambiguous_.resize(keys);
  ambiguous_[append.micro_op->key] = true;
  if (!first_clash_) first_clash_ = Clash{found, id};
}

}  // namespace ordeal::cycles
