#include "checkers/cycles/scc.h"

#include <numeric>

namespace ordeal::cycles {

Partition refine(const Graph& graph, EdgeMask allowed, std::span<const NodeId> nodes,
                 const Partition& within) {
  return strongly_connected(graph.nodes(), nodes, [&](NodeId node, std::uint32_t& cursor) {
    while (true) {
      const NodeId to = graph.next(node, cursor, allowed).node;
      if (to == kNone || within.component[to] == within.component[node]) return to;
    }
  });
}

Partition components(const Graph& graph, EdgeMask allowed) {
  std::vector<NodeId> all(graph.nodes());
  std::iota(all.begin(), all.end(), 0U);
  return strongly_connected(graph.nodes(), all, [&](NodeId node, std::uint32_t& cursor) {
    return graph.next(node, cursor, allowed).node;
  });
}

Partition refine_nonadjacent(const Graph& graph, EdgeMask allowed, std::span<const NodeId> nodes,
                             const Partition& within) {
  std::vector<std::uint32_t> roots;
  roots.reserve(nodes.size());
  for (const NodeId node : nodes) roots.push_back(2 * node);
  return strongly_connected(
      2 * graph.nodes(), roots, [&](std::uint32_t state, std::uint32_t& cursor) {
        const NodeId node = state / 2;
        const EdgeMask mask = state % 2 == 0 ? (allowed | kRw) : (allowed & ~kRw);
        while (true) {
          const auto [to, kind] = graph.next(node, cursor, mask);
          if (to == kNone) return kNone;
          if (within.component[to] == within.component[node])
            return 2 * to + (kind == EdgeKind::rw ? 1U : 0U);
        }
      });
}

}  // namespace ordeal::cycles
