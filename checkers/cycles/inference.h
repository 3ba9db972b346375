// What a list-append history says about dependencies between its transactions, derived once and
// shared by the search for cycles and by the explanations.
//
// Edges (Elle, VLDB 2020, section 4):
//   ww  from the writer of a version to the writer of the next one
//   wr  from the writer of the last element of a read to the reader
//   rw  from a reader to the writer of the first version that it did not see
// Versions whose append failed (or that nobody appended) are no committed versions: edges pass over
// them to the next committed one, as Adya's version order holds committed versions only. Unread
// appends of committed transactions come after every version of the key's order, in unknown order
// among themselves.
#pragma once

#include <future>
#include <optional>
#include <vector>

#include "checkers/cycles/dependencies.h"
#include "checkers/cycles/graph.h"
#include "checkers/cycles/transactions.h"
#include "checkers/cycles/version_orders.h"

namespace ordeal::cycles {

class Inference final : public Dependencies {
  // What needs the transactions alone: found on another thread while the appends are indexed.
  struct Aside {
    explicit Aside(const Transactions& transactions);
    LongestReads longest_reads;
    RealTime real_time;
    BigVector<TxnId> next_in_process;
    const StoredMicroOp* foreign = nullptr;
    TxnId foreign_txn = kNone;
  };

 public:
  explicit Inference(const History& history);
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  Transactions transactions;

 private:
  std::future<Aside> pending_;

 public:
  Appends appends;

 private:
  Aside aside_;

 public:
  VersionOrders orders;
  const RealTime& real_time;

  // The first micro-operation that is none of lists: nullptr where there is none.
  const StoredMicroOp* foreign() const { return aside_.foreign; }
  TxnId foreign_txn() const { return aside_.foreign_txn; }

  // Every data edge, in order of the later-named transaction's micro-operations; repetitions are
  // possible.
  BigVector<DataEdge> edges() const;
  Graph graph() const;

  const Transactions& involved() const override { return transactions; }
  std::optional<Reason> reason(TxnId from, TxnId to, EdgeKind kind) const override;
  std::string words(const CycleStep& step, const Reason& reason, std::string_view from,
                    std::string_view to) const override;

 private:
  template <class Visit>
  void for_each_edge_of(TxnId txn, Visit&& visit) const;
  template <class Visit>
  void edges_of_append(TxnId txn, const Append& append, Visit&& visit) const;
  template <class Visit>
  void edges_of_read(TxnId txn, const StoredMicroOp& read, Visit&& visit) const;
  AppendId committed_at_or_before(KeyId key, std::uint32_t version) const;
  AppendId committed_after(KeyId key, std::uint32_t version) const;
};

}  // namespace ordeal::cycles
