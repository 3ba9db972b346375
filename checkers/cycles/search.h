// Breadth-first search for a short path within one strongly connected component, to show a cycle
// that is known to exist. Real-time edges lead from a transaction straight to every one invoked
// after it completed, so a path counts transactions, not barriers; each transaction is entered
// once, so a search is linear all the same.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "checkers/cycles/cycle_classes.h"
#include "checkers/cycles/graph.h"
#include "checkers/cycles/scc.h"

namespace ordeal::cycles {

class PathSearch {
 public:
  explicit PathSearch(const Graph& graph);

  struct Query {
    TxnId from = kNone;
    TxnId to = kNone;
    EdgeMask allowed = 0;
    const Partition* within = nullptr;  // of nodes, or of states 2v + r where nonadjacent
    std::uint32_t component = 0;
    // rw edges besides the allowed ones, none after another, the first edge being none and neither
    // the last: the path closes a cycle with an rw edge `to` -> `from`.
    bool nonadjacent = false;
    std::size_t steps_max = ~std::size_t{0};
  };
  // A shortest path, nullopt if there is none within steps_max. `work`, counted in edges and
  // transactions looked at, is added to.
  std::optional<Cycle> shortest(const Query& query, std::uint64_t& work);

 private:
  struct Parent {
    std::uint32_t state = kNone;
    EdgeKind kind = EdgeKind::ww;
  };
  bool enter(const Query& query, std::uint32_t state, std::uint32_t from, EdgeKind kind);
  bool expand(const Query& query, std::uint32_t state, std::uint64_t& work);
  bool expand_real_time(const Query& query, std::uint32_t state, std::uint64_t& work);
  Cycle path_to(const Query& query, std::uint32_t state) const;
  TxnId txn_of(const Query& query, std::uint32_t state) const {
    return query.nonadjacent ? state / 2 : state;
  }

  const Graph& graph_;
  std::vector<Parent> parent_;
  std::vector<std::uint32_t> seen_;  // by state: the search that last entered it
  std::uint32_t search_ = 0;
  std::vector<std::uint32_t> queue_;
  TxnId frontier_ = kNone;  // transactions from here on have been entered by real time
};

}  // namespace ordeal::cycles
