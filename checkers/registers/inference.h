// What a rw-register history says about dependencies between its transactions (Elle, VLDB 2020,
// section 5.2), for the search for cycles and for the explanations.
//
//   wr  from the writer of a version to those whose first micro-operation on the key read it
//   ww  from the writer of a version to the writer of one that comes directly after it
//   rw  from a reader of a version to the writer of one that comes directly after it
//
// Only the last write of a transaction to a key makes a version that others may build on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checkers/cycles/dependencies.h"
#include "checkers/cycles/graph.h"
#include "checkers/registers/version_orders.h"
#include "checkers/registers/versions.h"

namespace ordeal::registers {

class Inference final : public cycles::Dependencies {
 public:
  Inference(const History& history, Assumptions assumptions);
  Inference(const Inference&) = delete;
  Inference& operator=(const Inference&) = delete;

  Transactions transactions;
  Versions versions;
  Touches touches;
  VersionOrders orders;
  cycles::RealTime real_time;

  cycles::Graph graph() const;

  const Transactions& involved() const override { return transactions; }
  std::optional<Reason> reason(TxnId from, TxnId to, cycles::EdgeKind kind) const override;
  std::string words(const cycles::CycleStep& step, const Reason& reason, std::string_view from,
                    std::string_view to) const override;

 private:
  TxnId writer(VersionId version) const;  // kNone: initial, not committed, or intermediate
  // visit(from, to, kind, earlier version, later version) for what leads to `txn`; of a wr edge
  // both versions are the one that was read.
  template <class Visit>
  void for_each_edge_to(TxnId txn, Visit&& visit) const;
  template <class Visit>
  void edges_to_write(TxnId txn, const Touch& touch, Visit&& visit) const;
  std::span<const TxnId> readers(VersionId version) const {
    return std::span(readers_).subspan(reader_offsets_[version],
                                       reader_offsets_[version + 1] - reader_offsets_[version]);
  }
  void collect_readers();

  std::vector<std::size_t> reader_offsets_;
  std::vector<TxnId> readers_;
};

}  // namespace ordeal::registers
