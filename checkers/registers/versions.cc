#include "checkers/registers/versions.h"

#include <bit>

namespace ordeal::registers {
namespace {

std::uint64_t hash_of(Value value) {
  const std::uint64_t mixed = value.bits() * 0x9e3779b97f4a7c15U;
  return mixed ^ (mixed >> 32U);
}

bool is_write(const StoredMicroOp& micro_op) { return micro_op.function == MicroFunction::write; }

}  // namespace

Versions::Versions(const Transactions& transactions) {
  const std::size_t keys = transactions.history().key_count();
  std::vector<std::uint32_t> writes(keys);
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      if (is_write(micro_op)) ++writes[micro_op.key];
    }
  }
  VersionId next = 0;
  std::size_t slots = 0;
  base_.reserve(keys + 1);
  for (const std::uint32_t count : writes) {
    offsets_.push_back(next);
    base_.push_back(slots);
    next += count + 1;
    slots += std::bit_ceil(2 * std::size_t{count} + 1);
  }
  offsets_.push_back(next);
  base_.push_back(slots);
  writes_.resize(next);
  slots_.assign(slots, {0, kNone});
  ambiguous_.resize(keys);

  std::vector<std::uint32_t> used(keys, 1);  // versions of each key so far
  std::vector<TxnId> written_by(keys, kNone);
  std::vector<const StoredMicroOp*> backwards;
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    backwards.clear();
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      if (is_write(micro_op)) backwards.push_back(&micro_op);
    }
    for (; !backwards.empty(); backwards.pop_back()) {
      const StoredMicroOp& micro_op = *backwards.back();
      add(transactions, txn, micro_op, written_by[micro_op.key] != txn, used);
      written_by[micro_op.key] = txn;
    }
  }
}

void Versions::add(const Transactions& transactions, TxnId txn, const StoredMicroOp& micro_op,
                   bool final, std::vector<std::uint32_t>& used) {
  Slot& place = slot(micro_op.key, micro_op.value);
  if (place.version == kNone) {
    place = {micro_op.value.bits(), offsets_[micro_op.key] + used[micro_op.key]++};
    writes_[place.version] = {&micro_op, txn, final};
    return;
  }
  Write& known = writes_[place.version];
  if (transactions.failed(txn)) return;
  if (transactions.failed(known.txn)) {
    known = {&micro_op, txn, final};
    return;
  }
  ambiguous_[micro_op.key] = true;
  if (!first_clash_) first_clash_ = Clash{micro_op.key, micro_op.value, known.txn, txn};
}

// Linear probing; a key has at least twice as many slots as values.
Versions::Slot& Versions::slot(KeyId key, Value value) {
  const std::size_t mask = base_[key + 1] - base_[key] - 1;
  std::size_t at = hash_of(value) & mask;
  while (slots_[base_[key] + at].version != kNone &&
         slots_[base_[key] + at].value_bits != value.bits()) {
    at = (at + 1) & mask;
  }
  return slots_[base_[key] + at];
}

VersionId Versions::find(KeyId key, Value value) const {
  if (value.is_nil()) return initial(key);
  return const_cast<Versions*>(this)->slot(key, value).version;
}

Touches::Touches(const Transactions& transactions, const Versions& versions)
    : committed_(transactions.size()), place_(transactions.history().key_count(), 0) {
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    if (transactions.ok(txn)) commit_with_writers(txn, transactions, versions);
  }
  for (TxnId txn = 0; txn < transactions.size(); ++txn) {
    first_of_.push_back(all_.size());
    if (committed(txn)) collect(txn, transactions, versions);
  }
  first_of_.push_back(all_.size());
}

void Touches::commit_with_writers(TxnId txn, const Transactions& transactions,
                                  const Versions& versions) {
  committed_[txn] = 1;
  for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
    if (is_write(micro_op) || versions.ambiguous(micro_op.key)) continue;
    const VersionId seen = versions.find(micro_op.key, micro_op.value);
    if (seen == kNone || versions.is_initial(seen)) continue;
    const TxnId writer = versions.write_of(seen).txn;
    if (!transactions.failed(writer)) committed_[writer] = 1;
  }
}

void Touches::collect(TxnId txn, const Transactions& transactions, const Versions& versions) {
  for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
    const KeyId key = micro_op.key;
    if (versions.ambiguous(key)) continue;
    const bool known =
        is_write(micro_op) || transactions.shows_reads(txn) || !micro_op.value.is_nil();
    if (!known) continue;  // an info transaction's read returned nobody knows what
    std::size_t& place = place_[key];
    const bool is_new = place < first_of_.back() || place >= all_.size() || all_[place].key != key;
    if (is_new) {
      place = all_.size();
      all_.push_back({key, kNone, kNone});
    }
    const VersionId version = versions.find(key, micro_op.value);
    if (is_write(micro_op)) {
      all_[place].write = version;
    } else if (is_new) {
      all_[place].read = version;  // kNone: a value that nobody wrote
    }
  }
}

}  // namespace ordeal::registers
