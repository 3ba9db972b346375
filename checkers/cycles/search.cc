#include "checkers/cycles/search.h"

#include <algorithm>

namespace ordeal::cycles {

PathSearch::PathSearch(const Graph& graph)
    : graph_(graph),
      parent_(2 * std::size_t{graph.txns()}),
      seen_(2 * std::size_t{graph.txns()}, 0) {}

std::optional<Cycle> PathSearch::shortest(const Query& query, std::uint64_t& work) {
  ++search_;
  queue_.clear();
  frontier_ = graph_.txns();
  const std::uint32_t start = query.nonadjacent ? 2 * query.from + 1 : query.from;
  const std::uint32_t goal = query.nonadjacent ? 2 * query.to : query.to;
  seen_[start] = search_;
  parent_[start] = {};
  queue_.push_back(start);
  std::size_t level_end = 1;
  std::size_t steps = 0;
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    if (at == level_end) {
      level_end = queue_.size();
      ++steps;
    }
    if (steps >= query.steps_max) return std::nullopt;
    if (expand(query, queue_[at], work) || expand_real_time(query, queue_[at], work)) {
      return path_to(query, goal);
    }
  }
  return std::nullopt;
}

// Whether the goal has been reached.
bool PathSearch::enter(const Query& query, std::uint32_t state, std::uint32_t from, EdgeKind kind) {
  const std::uint32_t goal = query.nonadjacent ? 2 * query.to : query.to;
  // A path from a transaction to itself ends where it began, so the goal may have been seen as the
  // start.
  if (seen_[state] == search_ && !(state == goal && parent_[state].state == kNone)) return false;
  if (query.within->component[state] != query.component) return false;
  seen_[state] = search_;
  parent_[state] = {from, kind};
  queue_.push_back(state);
  return state == goal;
}

bool PathSearch::expand(const Query& query, std::uint32_t state, std::uint64_t& work) {
  const TxnId txn = txn_of(query, state);
  EdgeMask allowed = query.allowed & ~kRealtime;
  if (query.nonadjacent) allowed = state % 2 == 0 ? (allowed | kRw) : (allowed & ~kRw);
  std::uint32_t cursor = 0;
  while (true) {
    const auto [to, kind] = graph_.next(txn, cursor, allowed);
    ++work;
    if (to == kNone) return false;
    const std::uint32_t next = query.nonadjacent ? 2 * to + (kind == EdgeKind::rw ? 1 : 0) : to;
    if (enter(query, next, state, kind)) return true;
  }
}

bool PathSearch::expand_real_time(const Query& query, std::uint32_t state, std::uint64_t& work) {
  if ((query.allowed & kRealtime) == 0) return false;
  const std::uint32_t barrier = graph_.real_time().after(txn_of(query, state));
  if (barrier == kNone) return false;
  const TxnId first = graph_.real_time().first_txn(barrier);
  for (TxnId txn = first; txn < frontier_; ++txn) {
    ++work;
    if (!graph_.in_real_time(txn)) continue;
    if (enter(query, query.nonadjacent ? 2 * txn : txn, state, EdgeKind::realtime)) return true;
  }
  frontier_ = std::min(frontier_, first);
  return false;
}

Cycle PathSearch::path_to(const Query& query, std::uint32_t state) const {
  Cycle path;
  const std::uint32_t start = query.nonadjacent ? 2 * query.from + 1 : query.from;
  do {
    const Parent& parent = parent_[state];
    path.push_back({txn_of(query, parent.state), txn_of(query, state), parent.kind});
    state = parent.state;
  } while (state != start);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace ordeal::cycles
