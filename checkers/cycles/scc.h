// Strongly connected components: Pearce's variant of Tarjan's algorithm ("A space-efficient
// algorithm for finding strongly connected components", IPL 2016), iterative, linear, 4 bytes a
// node beyond its stacks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "checkers/cycles/graph.h"

namespace ordeal::cycles {

// Component of each node, numbered 0, 1, ... such that every edge leads to a component of the same
// or a smaller number. Nodes that were left out have kNone.
struct Partition {
  BigVector<std::uint32_t> component;
  std::vector<std::uint32_t> size;  // by component
  bool nontrivial(std::uint32_t node) const {
    return component[node] != kNone && size[component[node]] > 1;
  }
};

// `successor(node, cursor)` returns the next successor of the node and moves the cursor, which
// begins at 0; kNone at the end. Only `roots` and what they reach get a component.
template <class Roots, class Successor>
Partition strongly_connected(std::uint32_t nodes, const Roots& roots, Successor&& successor) {
  struct Frame {
    std::uint32_t node;
    std::uint32_t cursor;
    bool root;
  };
  Partition result;
  result.component.assign(nodes,
                          0);  // 0: not visited; then the lowest index reached; then ~component
  BigVector<std::uint32_t>& rank = result.component;
  BigVector<std::uint32_t> open;
  std::vector<Frame> frames;
  std::uint32_t index = 1;
  const auto close = [&](std::uint32_t node) {
    const auto component = static_cast<std::uint32_t>(result.size.size());
    std::uint32_t members = 1;
    while (!open.empty() && rank[node] <= rank[open.back()]) {
      rank[open.back()] = ~component;
      open.pop_back();
      ++members;
    }
    index -= members;
    rank[node] = ~component;
    result.size.push_back(members);
  };
  for (const std::uint32_t root : roots) {
    if (rank[root] != 0) continue;
    rank[root] = index++;
    frames.push_back({root, 0, true});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      const std::uint32_t to = successor(frame.node, frame.cursor);
      if (to != kNone) {
        if (rank[to] == 0) {
          rank[to] = index++;
          frames.push_back({to, 0, true});
        } else if (rank[to] < rank[frame.node]) {
          rank[frame.node] = rank[to];
          frame.root = false;
        }
        continue;
      }
      const Frame done = frame;
      frames.pop_back();
      if (done.root) {
        close(done.node);
      } else {
        open.push_back(done.node);
      }
      if (!frames.empty() && rank[done.node] < rank[frames.back().node]) {
        rank[frames.back().node] = rank[done.node];
        frames.back().root = false;
      }
    }
  }
  for (std::uint32_t& component : rank) component = component == 0 ? kNone : ~component;
  return result;
}

// Components of the graph by the allowed edges, among the given nodes, which are whole components
// of `within` (edges between different components of it are ignored).
Partition refine(const Graph& graph, EdgeMask allowed, std::span<const NodeId> nodes,
                 const Partition& within);
// Components by all edges.
Partition components(const Graph& graph, EdgeMask allowed);

// Components of the product graph, whose node 2v + r says that v was reached by an rw edge (r = 1)
// or by another kind (r = 0), and in which no rw edge follows another. A cycle of it is a cycle
// without adjacent rw edges.
Partition refine_nonadjacent(const Graph& graph, EdgeMask allowed, std::span<const NodeId> nodes,
                             const Partition& within);

}  // namespace ordeal::cycles
