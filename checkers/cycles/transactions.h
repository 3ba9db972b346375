// The transactions of a history, numbered densely by invocation order, with what the graph needs to
// know of time: real-time barriers and session chains. Immutable after construction; holds a
// reference to the history, which must outlive it.
//
// Which micro-operations count: those of the completion where it has any, else the invocation's.
#pragma once

#include <cstdint>
#include <span>

#include "base/huge_pages.h"
#include "checkers/checker.h"
#include "history/history.h"

namespace ordeal::cycles {

using TxnId = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xffffffffU;  // no transaction, append, barrier, ...

enum class TxnStatus : std::uint8_t { ok, info, fail };  // info: includes what never completed

struct Transaction {
  Position invocation = kNoPosition;  // kNoPosition: the history lacks it
  Position completion = kNoPosition;  // kNoPosition: it never completed
  TxnStatus status = TxnStatus::info;
  bool completed_empty = false;              // the invocation's micro-operations count
  std::span<const StoredMicroOp> micro_ops;  // those that count
};

class Transactions {
 public:
  explicit Transactions(const History& history);

  const History& history() const { return history_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(all_.size()); }
  const Transaction& operator[](TxnId id) const { return all_[id]; }
  std::span<const StoredMicroOp> micro_ops(TxnId id) const { return all_[id].micro_ops; }
  bool failed(TxnId id) const { return all_[id].status == TxnStatus::fail; }
  bool ok(TxnId id) const { return all_[id].status == TxnStatus::ok; }
  // Whether a read without a value is one of the initial state: it is not where the value of the
  // whole transaction is unknown.
  bool shows_reads(TxnId id) const { return ok(id) && !all_[id].completed_empty; }
  // The event that stands for the transaction in reports: its completion; the invocation of one
  // that is info or never completed.
  const Event& reported_event(TxnId id) const;
  std::uint64_t operation_index(TxnId id) const { return reported_event(id).index; }
  OutcomeCounts counts() const { return counts_; }

 private:
  void add(Position invocation, Position completion);

  const History& history_;
  BigVector<Transaction> all_;
  OutcomeCounts counts_;
};

// Real time as a chain of barriers: T -> after(T) -> ... -> before(U) -> U exactly when T completed
// ok before U was invoked. O(n) edges, all implicit: barrier b leads to b + 1 and to the
// transactions first_txn(b) .. first_txn(b + 1) - 1, since transactions are numbered by invocation.
// Consecutive completions share a barrier.
class RealTime {
 public:
  explicit RealTime(const Transactions& transactions);

  std::uint32_t barriers() const { return static_cast<std::uint32_t>(first_txn_.size() - 1); }
  std::uint32_t after(TxnId id) const { return after_[id]; }  // kNone: it did not complete ok
  TxnId first_txn(std::uint32_t barrier) const { return first_txn_[barrier]; }
  // Whether something may precede it: a transaction without invocation began nobody knows when.
  bool has_start(TxnId id) const { return transactions_[id].invocation != kNoPosition; }

 private:
  const Transactions& transactions_;
  BigVector<std::uint32_t> after_;
  BigVector<TxnId> first_txn_;  // one more than there are barriers
};

// Session order: next[T] is the transaction that T's process executed after T completed ok. An info
// transaction has a predecessor and no successor, since it may take effect at any later time.
BigVector<TxnId> process_successors(const Transactions& transactions);

}  // namespace ordeal::cycles
