// What list-append histories reveal about the versions of each key: who appended which element, and
// in which order the elements were installed.
//
// The version order of a key is the longest list that an ok transaction read; all its reads should
// be prefixes of it (Kingsbury and Alvaro, "Elle", VLDB 2020, section 3). Versions are numbered
// from 1; version 0 is the initial, empty list. An element in no read of an ok transaction is
// "unread": its append, if it committed, comes after the whole order, because that order is a
// prefix of the true one.
//
// The value -> append lookup is an array per key where the elements are dense integers (they nearly
// always are), otherwise one open-addressed table. No iteration over hashes: results depend on the
// file only.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "checkers/cycles/transactions.h"

namespace ordeal::cycles {

using AppendId = std::uint32_t;
inline constexpr std::uint32_t kUnread = kNone;

struct Append {
  const StoredMicroOp* micro_op = nullptr;
  TxnId txn = kNone;
  std::uint32_t version = kUnread;  // 1, 2, ... in the key's order
  bool intermediate = false;        // the same transaction appends to the key again
};

// All appends in order of transaction and micro-operation, and their lookup by key and element.
class Appends {
 public:
  explicit Appends(const Transactions& transactions);

  std::span<const Append> all() const { return all_; }
  const Append& operator[](AppendId id) const { return all_[id]; }
  AppendId find(KeyId key, Value element) const;  // kNone: nobody appended it
  // Appends of a transaction: first_of(t) .. first_of(t + 1) - 1.
  AppendId first_of(TxnId txn) const { return first_of_[txn]; }
  void set_version(AppendId id, std::uint32_t version) { all_[id].version = version; }

  // Keys to which two transactions that did not fail appended the same element: nothing can be
  // inferred from their reads.
  bool ambiguous(KeyId key) const { return !ambiguous_.empty() && ambiguous_[key]; }
  struct Clash {
    AppendId first, second;
  };
  const std::optional<Clash>& first_clash() const { return first_clash_; }

 private:
  struct Range {  // of the integer elements of a key
    std::int64_t low = 0;
    std::uint32_t slots = 0;  // 0: in the table
    std::size_t offset = 0;
  };
  struct Extent {  // of what was appended to a key
    std::int64_t low = std::numeric_limits<std::int64_t>::max();
    std::int64_t high = std::numeric_limits<std::int64_t>::min();
    std::uint64_t count = 0;
    bool only_integers = true;
    void add(Value value);
    bool dense() const;
  };
  std::vector<Extent> collect(const Transactions& transactions);
  void lay_out(const std::vector<Extent>& extents);
  AppendId& slot(KeyId key, Value element);
  AppendId& table_slot(KeyId key, Value element);
  const AppendId& table_slot(KeyId key, Value element) const;
  void index(const Transactions& transactions, AppendId id, std::size_t keys);

  BigVector<Append> all_;
  BigVector<AppendId> first_of_;
  std::vector<Range> ranges_;
  BigVector<AppendId> dense_;
  BigVector<AppendId> table_;
  std::vector<bool> ambiguous_;
  std::optional<Clash> first_clash_;
};

// What one read of a key tells.
struct ReadState {
  std::uint32_t version = kUnread;  // that it saw; kUnread: none of the version order
  AppendId last = kNone;            // append of its last element
  bool compatible = true;           // a prefix of the version order
};

// By key, the longest list that an ok transaction read; of two of equal length the later one
// counts: if they differ, its state is the one that survived.
struct LongestReads {
  explicit LongestReads(const Transactions& transactions);
  struct Longest {
    std::span<const Value> list;
    std::uint32_t list_id = kNone;
  };
  std::vector<Longest> of_key;
  bool shared =
      true;  // all reads of each key share storage, so that all are prefixes of the longest
};

class VersionOrders {
 public:
  VersionOrders(const Transactions& transactions, Appends& appends, const LongestReads& longest);

  // Number of versions after the initial one.
  std::uint32_t versions(KeyId key) const { return keys_[key].versions; }
  // Append that installed a version (1 ..); kNone for an element that nobody appended.
  AppendId append_of(KeyId key, std::uint32_t version) const {
    return order_[keys_[key].offset + version - 1];
  }
  // The elements as the longest read returned them (with repetitions, if any).
  std::span<const Value> longest_read(KeyId key) const { return keys_[key].list; }
  bool has_duplicates(KeyId key) const { return keys_[key].duplicates; }
  ReadState resolve(const StoredMicroOp& read) const;

  // Number of places of failed appends, of elements that nobody appended, and of repetitions in the
  // first `length` elements of the key's longest read.
  struct Flaws {
    std::uint32_t failed = 0, garbage = 0, repeated = 0;
  };
  Flaws flaws(KeyId key, std::uint32_t length) const;
  bool has_flaws(KeyId key) const { return keys_[key].flawed; }

  // Info transactions with an element in a read of an ok transaction: those have committed.
  bool observed(TxnId txn) const { return observed_[txn]; }
  // May appear in a cycle: ok, or info and observed.
  bool committed(TxnId txn) const { return committed_[txn] != 0; }
  // Committed transactions with unread appends to the key, ascending, without repetition.
  std::span<const TxnId> unread_appenders(KeyId key) const;

 private:
  struct Key {
    std::span<const Value> list;
    std::uint32_t list_id = kNone;
    std::uint32_t versions = 0;
    std::size_t offset = 0;  // of version 1 in order_
    bool duplicates = false;
    bool flawed = false;
  };
  void order_versions(KeyId key);
  void observe_divergent_reads();
  void collect_unread();
  bool is_prefix(const StoredMicroOp& read) const;

  const Transactions& transactions_;
  Appends& appends_;
  std::vector<Key> keys_;
  BigVector<AppendId> order_;
  std::unordered_map<KeyId, std::vector<Flaws>> flaws_;  // by length of prefix; flawed keys only
  std::vector<bool> observed_;
  BigVector<std::uint8_t> committed_;
  std::vector<std::size_t> unread_offset_;
  std::vector<TxnId> unread_;
};

}  // namespace ordeal::cycles
