#include "checkers/cycles/witness.h"

#include <algorithm>
#include <unordered_map>

namespace ordeal::cycles {
namespace {

// Evenly spaced starts, so that a short cycle is likely to be met though not every start is tried.
constexpr std::size_t kStartsMax = 32;
constexpr std::uint64_t kWorkMax = 4'000'000;

// Calls attempt(start, best, work), which improves on `best`, until enough work has been done.
template <class Starts, class Attempt>
Cycle best_of(const Starts& starts, Attempt&& attempt) {
  Cycle best;
  std::uint64_t work = 0;
  const std::size_t stride = std::max<std::size_t>(1, starts.size() / kStartsMax);
  for (std::size_t at = 0; at < starts.size(); at += stride) {
    if (!best.empty() && work > kWorkMax) break;
    attempt(starts[at], best, work);
  }
  return best;
}

std::size_t rw_edges(const Cycle& cycle) {
  return static_cast<std::size_t>(std::count_if(
      cycle.begin(), cycle.end(), [](const CycleStep& step) { return step.kind == EdgeKind::rw; }));
}

bool adjacent_ends(const Cycle& cycle) {
  return cycle.front().kind == EdgeKind::rw && cycle.back().kind == EdgeKind::rw;
}

// A part of a closed walk without adjacent rw edges that visits no transaction twice and still has
// no adjacent ones: of the two parts at a repeated transaction at least one qualifies, since at
// most one of the two visits comes and goes by rw. Where both do, the one with more rw edges.
Cycle simple_part(Cycle walk) {
  std::unordered_map<TxnId, std::size_t> places;
  for (std::size_t at = 0; at < walk.size(); ++at) {
    const auto [found, is_new] = places.emplace(walk[at].from, at);
    if (is_new) continue;
    const auto begin = walk.begin() + static_cast<std::ptrdiff_t>(found->second);
    const auto end = walk.begin() + static_cast<std::ptrdiff_t>(at);
    Cycle inner(begin, end);
    Cycle outer(walk.begin(), begin);
    outer.insert(outer.end(), end, walk.end());
    if (adjacent_ends(inner)) return simple_part(std::move(outer));
    const bool take_outer = !adjacent_ends(outer) && rw_edges(outer) > rw_edges(inner);
    return simple_part(take_outer ? std::move(outer) : std::move(inner));
  }
  return walk;
}

}  // namespace

Cycle Witness::through(std::span<const TxnId> members, EdgeMask allowed, const Partition& within) {
  return best_of(members, [&](TxnId start, Cycle& best, std::uint64_t& work) {
    PathSearch::Query query{start, start, allowed, &within, within.component[start], false};
    if (!best.empty()) query.steps_max = best.size() - 1;
    if (auto cycle = search().shortest(query, work)) best = std::move(*cycle);
  });
}

Cycle Witness::closing(std::span<const RwEdge> edges, EdgeMask allowed, const Partition& within) {
  return best_of(edges, [&](const RwEdge& edge, Cycle& best, std::uint64_t& work) {
    PathSearch::Query query{edge.to, edge.from, allowed, &within, edge.component, false};
    if (!best.empty()) query.steps_max = best.size() - 2;
    auto path = search().shortest(query, work);
    if (!path) return;
    path->insert(path->begin(), {edge.from, edge.to, EdgeKind::rw});
    best = std::move(*path);
  });
}

Cycle Witness::alternating(std::span<const RwEdge> edges, EdgeMask allowed,
                           const Partition& product) {
  return best_of(edges, [&](const RwEdge& edge, Cycle& best, std::uint64_t& work) {
    const std::uint32_t component = product.component[2 * std::size_t{edge.from}];
    PathSearch::Query query{edge.to, edge.from, allowed, &product, component, true};
    auto path = search().shortest(query, work);
    if (!path) return;
    path->insert(path->begin(), {edge.from, edge.to, EdgeKind::rw});
    Cycle cycle = simple_part(std::move(*path));
    if (rw_edges(cycle) > 1 && (best.empty() || cycle.size() < best.size()))
      best = std::move(cycle);
  });
}

}  // namespace ordeal::cycles
