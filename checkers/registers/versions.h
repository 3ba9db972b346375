// What rw-register histories reveal about the versions of each key: who wrote which value, and
// which versions come before which.
//
// A version is a written value of a key (values are unique per key), or the key's initial state,
// nil. Unlike lists, registers do not show the order of their versions; it is inferred, as a
// relation that need not be total (Kingsbury and Alvaro, "Elle", VLDB 2020, section 5.2):
//
//   initial       nil comes before every other version
//   wfr           within a transaction, what it read first before what it wrote last (option
//                 wfr-keys)
//   process       what a process saw or wrote of a key before what it sees or writes later
//                 (sequential-keys)
//   realtime      what a transaction saw or wrote before what one that was invoked after its
//                 completion does (linearizable-keys)
//
// Each option is a promise of the database about single keys, which the user vouches for. A cycle
// among the versions of a key breaks the promise; for such a key only the initial version is
// ordered.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "checkers/cycles/transactions.h"

namespace ordeal::registers {

using cycles::kNone;
using cycles::Transactions;
using cycles::TxnId;
using VersionId = std::uint32_t;

struct Write {
  const StoredMicroOp* micro_op = nullptr;
  TxnId txn = kNone;
  bool final = false;  // the last of its transaction to that key
};

// What a transaction did to a key, seen from outside. kNone where it did not.
struct Touch {
  KeyId key = 0;
  VersionId read = kNone;   // by the first micro-operation on the key
  VersionId write = kNone;  // by the last write
  VersionId first() const { return read != kNone ? read : write; }
  VersionId last() const { return write != kNone ? write : read; }
};

// All versions, numbered such that those of a key stand together, the initial one first.
class Versions {
 public:
  explicit Versions(const Transactions& transactions);

  std::uint32_t size() const { return static_cast<std::uint32_t>(writes_.size()); }
  VersionId initial(KeyId key) const { return offsets_[key]; }
  VersionId end(KeyId key) const { return offsets_[key + 1]; }
  bool is_initial(VersionId version) const { return writes_[version].micro_op == nullptr; }
  // Of an initial version, one without transaction.
  const Write& write_of(VersionId version) const { return writes_[version]; }
  // kNone: nobody wrote that value.
  VersionId find(KeyId key, Value value) const;

  // Two transactions that did not fail wrote the same value to a key.
  struct Clash {
    KeyId key;
    Value value;
    TxnId first, second;
  };
  const std::optional<Clash>& first_clash() const { return first_clash_; }
  // Keys with a clash: nothing can be inferred from their reads.
  bool ambiguous(KeyId key) const { return ambiguous_[key]; }

 private:
  struct Slot {
    std::uint64_t value_bits;
    VersionId version;
  };
  void add(const Transactions& transactions, TxnId txn, const StoredMicroOp& micro_op, bool final,
           std::vector<std::uint32_t>& used);
  Slot& slot(KeyId key, Value value);

  std::vector<VersionId> offsets_;
  std::vector<Write> writes_;      // by version
  std::vector<std::size_t> base_;  // of a key's slots, whose number is a power of two
  std::vector<Slot> slots_;
  std::vector<bool> ambiguous_;
  std::optional<Clash> first_clash_;
};

// The touches of all transactions that have committed: ok ones, and info ones of which an ok
// transaction read a write.
class Touches {
 public:
  Touches(const Transactions& transactions, const Versions& versions);

  std::span<const Touch> of(TxnId txn) const {
    return std::span(all_).subspan(first_of_[txn], first_of_[txn + 1] - first_of_[txn]);
  }
  bool committed(TxnId txn) const { return committed_[txn] != 0; }
  const BigVector<std::uint8_t>& committed() const { return committed_; }

 private:
  void commit_with_writers(TxnId txn, const Transactions& transactions, const Versions& versions);
  void collect(TxnId txn, const Transactions& transactions, const Versions& versions);

  BigVector<std::uint8_t> committed_;
  std::vector<std::size_t> place_;  // by key: its latest touch
  std::vector<Touch> all_;
  std::vector<std::size_t> first_of_;
};

}  // namespace ordeal::registers
