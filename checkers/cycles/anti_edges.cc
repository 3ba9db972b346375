#include "checkers/cycles/anti_edges.h"

#include <algorithm>

namespace ordeal::cycles {
namespace {

bool by_component(const RwEdge& a, const RwEdge& b) { return a.component < b.component; }

}  // namespace

AntiEdges find_anti_edges(const Graph& graph, std::span<const NodeId> active,
                          const Partition& whole, const Partition& base, const Partition& product) {
  AntiEdges edges;
  // Product components that hold cycles without rw edges.
  std::vector<bool> mixed(product.size.size());
  for (const NodeId node : active) {
    if (base.nontrivial(node)) mixed[product.component[2 * std::size_t{node}]] = true;
  }
  for (const NodeId node : active) {
    if (graph.is_barrier(node)) continue;
    const std::uint32_t state = product.component[2 * std::size_t{node}];
    for (std::uint32_t at = 0; at < graph.degree(node); ++at) {
      const auto [to, kind] = graph.edge(node, at);
      if (kind != EdgeKind::rw || whole.component[to] != whole.component[node]) continue;
      const RwEdge edge{node, to, whole.component[node]};
      edges.inside.push_back(edge);
      if (product.component[2 * std::size_t{to} + 1] != state) continue;
      edges.closing.push_back(edge);
      if (!mixed[state]) edges.alternating.push_back(edge);
    }
  }
  for (auto* list : {&edges.inside, &edges.closing, &edges.alternating}) {
    std::stable_sort(list->begin(), list->end(), by_component);
  }
  return edges;
}

std::span<const RwEdge> edges_of(std::span<const RwEdge> edges, std::uint32_t component) {
  const auto [begin, end] =
      std::equal_range(edges.begin(), edges.end(), RwEdge{0, 0, component}, by_component);
  return {begin, end};
}

std::vector<bool> components_of(std::span<const RwEdge> edges, const Partition& whole) {
  std::vector<bool> present(whole.size.size());
  for (const RwEdge& edge : edges) present[edge.component] = true;
  return present;
}

}  // namespace ordeal::cycles
