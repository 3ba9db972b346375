// Picks the cycle to show of a component that is known to hold one: short, and the shortest where
// few starts are possible. Verdicts do not depend on it.
#pragma once

#include <optional>
#include <span>

#include "checkers/cycles/cycle_classes.h"
#include "checkers/cycles/graph.h"
#include "checkers/cycles/scc.h"
#include "checkers/cycles/search.h"
#include "checkers/cycles/single_cycles.h"

namespace ordeal::cycles {

class Witness {
 public:
  explicit Witness(const Graph& graph) : graph_(graph) {}

  // A cycle by allowed edges through one of the members of a component of `within`.
  Cycle through(std::span<const TxnId> members, EdgeMask allowed, const Partition& within);
  // A cycle of one of the rw edges and allowed edges, all in one component of `within`; empty if
  // none of those tried closes.
  Cycle closing(std::span<const RwEdge> edges, EdgeMask allowed, const Partition& within);
  // The same without adjacent rw edges; `product` as refine_nonadjacent() makes it.
  Cycle alternating(std::span<const RwEdge> edges, EdgeMask allowed, const Partition& product);

 private:
  PathSearch& search() {
    if (!search_) search_.emplace(graph_);
    return *search_;
  }

  const Graph& graph_;
  std::optional<PathSearch> search_;
};

}  // namespace ordeal::cycles
