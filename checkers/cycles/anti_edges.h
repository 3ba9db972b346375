// The rw edges that lie on cycles, sorted by component: raw material for G-single, G-nonadjacent
// and G2.
#pragma once

#include <span>
#include <vector>

#include "checkers/cycles/graph.h"
#include "checkers/cycles/scc.h"
#include "checkers/cycles/single_cycles.h"

namespace ordeal::cycles {

struct AntiEdges {
  std::vector<RwEdge> inside;  // within one component: each is on a cycle
  std::vector<RwEdge>
      closing;  // within one component of the product graph as well: candidates for G-single
  // Of those, the ones in a product component whose every cycle has an rw edge: each is on a simple
  // cycle without adjacent rw edges.
  std::vector<RwEdge> alternating;
};

// `whole` partitions by all edges of a level, `base` by those without rw, `product` as
// refine_nonadjacent() does.
AntiEdges find_anti_edges(const Graph& graph, std::span<const NodeId> active,
                          const Partition& whole, const Partition& base, const Partition& product);

// The part of `edges` that belongs to a component.
std::span<const RwEdge> edges_of(std::span<const RwEdge> edges, std::uint32_t component);

// By component, whether it has any of the edges.
std::vector<bool> components_of(std::span<const RwEdge> edges, const Partition& whole);

}  // namespace ordeal::cycles
