#include "checkers/cycles/single_cycles.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "checkers/cycles/search.h"

namespace ordeal::cycles {
namespace {

constexpr std::size_t kWords = 4;
constexpr std::size_t kBatch = 64 * kWords;
using Bits = std::array<std::uint64_t, kWords>;

// Propagates, for batches of edges u -> v, which nodes reach u.
class Reachability {
 public:
  Reachability(const Graph& graph, EdgeMask allowed, const Partition& whole, const Partition& base)
      : graph_(graph), allowed_(allowed), whole_(whole), base_(base), reach_(base.size.size()) {
    // Nodes by component: sinks first, so that a component's successors come before it.
    first_.assign(base.size.size() + 1, 0);
    for (std::size_t id = 0; id < base.size.size(); ++id)
      first_[id + 1] = first_[id] + base.size[id];
    members_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for (NodeId node = 0; node < graph.nodes(); ++node) {
      if (base.component[node] != kNone) members_[next[base.component[node]]++] = node;
    }
  }

  // Calls hit(i) for each edge of the batch whose end reaches its start.
  template <class Hit>
  void ask(std::span<const RwEdge> edges, Hit&& hit) {
    std::uint32_t low = kNone;
    std::uint32_t high = 0;
    for (const RwEdge& edge : edges) {
      low = std::min(low, base_.component[edge.from]);
      high = std::max(high, base_.component[edge.to]);
    }
    if (low > high) return;  // every end comes before every start
    std::fill(reach_.begin() + low, reach_.begin() + high + 1, Bits{});
    for (std::size_t at = 0; at < edges.size(); ++at) {
      const std::uint32_t start = base_.component[edges[at].from];
      if (start <= high) reach_[start][at / 64] |= std::uint64_t{1} << (at % 64);
    }
    for (std::uint32_t id = low; id <= high; ++id) propagate(id, low);
    for (std::size_t at = 0; at < edges.size(); ++at) {
      const std::uint32_t end = base_.component[edges[at].to];
      if (end >= low && (reach_[end][at / 64] >> (at % 64) & 1U) != 0) hit(at);
    }
  }

 private:
  void propagate(std::uint32_t id, std::uint32_t low) {
    for (std::uint32_t at = first_[id]; at < first_[id + 1]; ++at) {
      const NodeId node = members_[at];
      std::uint32_t cursor = 0;
      while (true) {
        const NodeId to = graph_.next(node, cursor, allowed_).node;
        if (to == kNone) break;
        const std::uint32_t next = base_.component[to];
        if (whole_.component[to] != whole_.component[node] || next == id || next < low) continue;
        for (std::size_t word = 0; word < kWords; ++word) reach_[id][word] |= reach_[next][word];
      }
    }
  }

  const Graph& graph_;
  EdgeMask allowed_;
  const Partition& whole_;
  const Partition& base_;
  std::vector<Bits> reach_;
  std::vector<std::uint32_t> first_;
  std::vector<NodeId> members_;
};

// Edges of the components that are still open, ordered so that batches span short ranges.
std::vector<std::uint32_t> open_edges(std::span<const RwEdge> edges, const Partition& base,
                                      const std::vector<std::uint32_t>& found) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t at = 0; at < edges.size(); ++at) {
    const bool may_close = base.component[edges[at].to] >= base.component[edges[at].from];
    if (found[edges[at].component] == kNone && may_close) open.push_back(at);
  }
  std::stable_sort(open.begin(), open.end(), [&](std::uint32_t a, std::uint32_t b) {
    return base.component[edges[a].from] < base.component[edges[b].from];
  });
  return open;
}

// Searches until each component has spent work in proportion to its size.
void try_searches(const Graph& graph, EdgeMask allowed, std::span<const RwEdge> edges,
                  const Partition& whole, const Partition& base,
                  std::vector<std::uint32_t>& found) {
  PathSearch search(graph);
  std::uint64_t work = 0;
  std::uint32_t component = kNone;
  for (std::uint32_t at = 0; at < edges.size(); ++at) {
    const RwEdge& edge = edges[at];
    if (edge.component != component) {
      component = edge.component;
      work = 0;
    }
    const bool spent = work > 16 * std::uint64_t{whole.size[component]} + 1000;
    if (spent || found[component] != kNone) continue;
    if (base.component[edge.to] < base.component[edge.from]) continue;
    PathSearch::Query query{edge.to, edge.from, allowed, &whole, component, false, 8};
    if (search.shortest(query, work)) found[component] = at;
  }
}

}  // namespace

void decide_single(const Graph& graph, EdgeMask allowed, std::span<const RwEdge> edges,
                   const Partition& whole, const Partition& base, std::vector<std::uint32_t>& found,
                   std::stop_token stop) {
  try_searches(graph, allowed, edges, whole, base, found);
  std::vector<std::uint32_t> open = open_edges(edges, base, found);
  if (open.empty()) return;
  Reachability reachability(graph, allowed, whole, base);
  std::vector<RwEdge> batch;
  std::vector<std::uint32_t> places;
  const auto ask = [&] {
    reachability.ask(batch, [&](std::size_t at) {
      std::uint32_t& first = found[batch[at].component];
      first = std::min(first, places[at]);
    });
    batch.clear();
    places.clear();
  };
  for (const std::uint32_t at : open) {
    if (stop.stop_requested()) return;
    if (found[edges[at].component] != kNone) continue;
    batch.push_back(edges[at]);
    places.push_back(at);
    if (batch.size() == kBatch) ask();
  }
  ask();
}

}  // namespace ordeal::cycles
