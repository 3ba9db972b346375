// Decides G-single: for an rw edge u -> v, does v reach u by the other allowed edges? A
// reachability question per edge is more than linear in general; here
//   1. only edges within one component of the product graph are asked about (no other can close
//   such a cycle), so
//      a history that is snapshot-isolated asks nothing;
//   2. a breadth-first search of bounded total work answers most components, since one cycle
//   settles one;
//   3. what is left is answered exactly for 256 edges at a time, by propagating bit sets over the
//   components of
//      the graph without rw edges in topological order, within the range that lies between the
//      edges' ends.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "checkers/cycles/graph.h"
#include "checkers/cycles/scc.h"

namespace ordeal::cycles {

// An rw edge inside a component.
struct RwEdge {
  TxnId from = kNone;
  TxnId to = kNone;
  std::uint32_t component = 0;
};

// `edges` sorted by component; `base` partitions by the allowed edges without rw. Marks in `found`,
// by component, the first edge (place in `edges`) known to close a G-single, kNone where there is
// none.
void decide_single(const Graph& graph, EdgeMask allowed, std::span<const RwEdge> edges,
                   const Partition& whole, const Partition& base, std::vector<std::uint32_t>& found,
                   std::stop_token stop);

}  // namespace ordeal::cycles
