#include "checkers/cycles/cycle_classes.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "checkers/cycles/scc.h"
#include "checkers/cycles/search.h"
#include "checkers/cycles/single_cycles.h"

namespace ordeal::cycles {
namespace {

struct Order {  // which orders a level adds to the data edges
  EdgeMask mask;
  std::string_view suffix;
};
constexpr Order kOrders[] = {
    {0, ""}, {kProcess, "-process"}, {static_cast<EdgeMask>(kProcess | kRealtime), "-realtime"}};

enum class Class { g0, g1c, single, nonadjacent, g2 };
constexpr std::string_view kClassNames[] = {"G0", "G1c", "G-single-item", "G-nonadjacent-item",
                                            "G2-item"};

std::string type_name(Class cycle_class, std::string_view suffix) {
  return std::string(kClassNames[static_cast<std::size_t>(cycle_class)]) + std::string(suffix);
}

// A component known to hold a cycle of a class, to be shown if there is room.
struct Finding {
  std::uint32_t component = 0;
  std::uint32_t size = 0;
  TxnId member = kNone;         // the smallest
  std::uint32_t start = kNone;  // an edge known to close such a cycle, where not every one does
};

std::vector<NodeId> nontrivial_nodes(const Partition& partition, std::span<const NodeId> among) {
  std::vector<NodeId> nodes;
  for (const NodeId node : among) {
    if (partition.nontrivial(node)) nodes.push_back(node);
  }
  return nodes;
}

class Finder {
 public:
  Finder(const Graph& graph, std::size_t examples_max, std::stop_token stop)
      : graph_(graph), examples_max_(examples_max), stop_(std::move(stop)) {}

  CycleReport run() {
    std::vector<NodeId> nodes(graph_.nodes());
    std::iota(nodes.begin(), nodes.end(), 0U);
    levels_[2].whole = components(graph_, kData | kOrders[2].mask);
    levels_[2].active = nontrivial_nodes(levels_[2].whole, nodes);
    if (levels_[2].active.empty()) return std::move(report_);
    for (const std::size_t level : {1U, 0U}) {
      const Level& above = levels_[level + 1];
      levels_[level].whole = refine(graph_, kData | kOrders[level].mask, above.active, above.whole);
      levels_[level].active = nontrivial_nodes(levels_[level].whole, above.active);
    }
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      report_.stopped = report_.stopped || stop_.stop_requested();
      if (!report_.stopped && !levels_[level].active.empty()) decide(level);
    }
    return std::move(report_);
  }

 private:
  struct Level {
    Partition whole;             // by every edge of the level
    std::vector<NodeId> active;  // in cycles
  };
  // Members of components found at a lower level: their components here have the class as well.
  using Members = std::vector<TxnId>;

  void decide(std::size_t level);
  void decide_writes(std::size_t level, const Partition& base, const Partition& writes);
  void decide_anti_dependencies(std::size_t level, const Partition& base, const Partition& product);
  void record(std::size_t level, Class cycle_class, std::vector<Finding> findings,
              const Partition& within, std::span<const RwEdge> edges);
  Cycle show_writes(std::size_t level, Class cycle_class, const Finding& finding,
                    const Partition& within);
  Cycle show_anti(std::size_t level, Class cycle_class, const Finding& finding,
                  const Partition& within, std::span<const RwEdge> edges);
  std::vector<Finding> findings_in(const Partition& partition, std::span<const NodeId> nodes,
                                   const std::vector<bool>& skip) const;
  std::vector<bool> marked(const Partition& partition,
                           std::initializer_list<const Members*> found) const;
  Members& members_of(Class cycle_class) { return found_[static_cast<std::size_t>(cycle_class)]; }
  PathSearch& search() {
    if (!search_) search_.emplace(graph_);
    return *search_;
  }

  const Graph& graph_;
  std::size_t examples_max_;
  std::stop_token stop_;
  CycleReport report_;
  std::array<Level, 3> levels_;
  std::array<Members, 5> found_;  // by class
  std::optional<PathSearch> search_;
};

std::vector<bool> Finder::marked(const Partition& partition,
                                 std::initializer_list<const Members*> found) const {
  std::vector<bool> marks(partition.size.size());
  for (const Members* members : found) {
    for (const TxnId txn : *members) {
      if (partition.component[txn] != kNone) marks[partition.component[txn]] = true;
    }
  }
  return marks;
}

std::vector<Finding> Finder::findings_in(const Partition& partition, std::span<const NodeId> nodes,
                                         const std::vector<bool>& skip) const {
  std::vector<Finding> findings;
  std::vector<bool> seen = skip;
  for (const NodeId node : nodes) {
    if (graph_.is_barrier(node) || !partition.nontrivial(node)) continue;
    const std::uint32_t component = partition.component[node];
    if (seen[component]) continue;
    seen[component] = true;
    findings.push_back({component, partition.size[component], node});
  }
  return findings;
}

void Finder::decide(std::size_t level) {
  const EdgeMask mask = kOrders[level].mask;
  const Level& here = levels_[level];
  const Partition product = refine_nonadjacent(graph_, kWw | kWr | mask, here.active, here.whole);
  const Partition base = refine(graph_, kWw | kWr | mask, here.active, here.whole);
  const std::vector<NodeId> base_active = nontrivial_nodes(base, here.active);
  if (!base_active.empty()) {
    decide_writes(level, base, refine(graph_, kWw | mask, base_active, base));
  }
  decide_anti_dependencies(level, base, product);
}

void Finder::decide_writes(std::size_t level, const Partition& base, const Partition& writes) {
  const auto& active = levels_[level].active;
  Members& g0 = members_of(Class::g0);
  Members& g1c = members_of(Class::g1c);
  auto findings = findings_in(writes, active, marked(writes, {&g0}));
  for (const Finding& finding : findings) g0.push_back(finding.member);
  record(level, Class::g0, std::move(findings), writes, {});
  findings = findings_in(base, active, marked(base, {&g0, &g1c}));
  for (const Finding& finding : findings) g1c.push_back(finding.member);
  record(level, Class::g1c, std::move(findings), base, {});
}

void Finder::decide_anti_dependencies(std::size_t level, const Partition& base,
                                      const Partition& product) {
  const Level& here = levels_[level];
  std::vector<RwEdge> edges;        // within a component
  std::vector<RwEdge> closing;      // within one of the product graph: candidates for G-single
  std::vector<RwEdge> alternating;  // of those, in cycles without adjacent rw edges
  std::vector<bool> nonadjacent(here.whole.size.size());
  // Product components that hold cycles without rw edges prove nothing about nonadjacent ones.
  std::vector<bool> mixed(product.size.size());
  for (const NodeId node : here.active) {
    if (base.nontrivial(node)) mixed[product.component[2 * std::size_t{node}]] = true;
  }
  for (const NodeId node : here.active) {
    if (graph_.is_barrier(node)) continue;
    for (std::uint32_t at = 0; at < graph_.degree(node); ++at) {
      const auto [to, kind] = graph_.edge(node, at);
      const std::uint32_t component = here.whole.component[node];
      if (kind != EdgeKind::rw || here.whole.component[to] != component) continue;
      edges.push_back({node, to, component});
      const std::uint32_t state = product.component[2 * std::size_t{node}];
      if (product.component[2 * std::size_t{to} + 1] != state) continue;
      closing.push_back(edges.back());
      if (mixed[state]) continue;
      alternating.push_back(edges.back());
      nonadjacent[component] = true;
    }
  }
  const auto by_component = [](const RwEdge& a, const RwEdge& b) {
    return a.component < b.component;
  };
  std::stable_sort(edges.begin(), edges.end(), by_component);
  std::stable_sort(closing.begin(), closing.end(), by_component);
  std::stable_sort(alternating.begin(), alternating.end(), by_component);

  Members& single = members_of(Class::single);
  std::vector<bool> done = marked(here.whole, {&single});
  std::vector<std::uint32_t> first(here.whole.size.size(), kNone);
  std::erase_if(closing, [&](const RwEdge& edge) { return done[edge.component]; });
  decide_single(graph_, kWw | kWr | kOrders[level].mask, closing, here.whole, base, first, stop_);
  if (stop_.stop_requested()) {
    report_.stopped = true;
    return;
  }
  std::vector<bool> has_rw(here.whole.size.size());
  for (const RwEdge& edge : edges) has_rw[edge.component] = true;
  auto all = findings_in(here.whole, here.active, std::vector<bool>(here.whole.size.size()));
  for (Finding& finding : all) finding.start = first[finding.component];
  // Reports the components that have the class, unless they have a stronger one or had it at a
  // lower level.
  const auto take = [&](Class cycle_class, const Partition& within, std::span<const RwEdge> shown,
                        auto&& has) {
    Members& members = members_of(cycle_class);
    const std::vector<bool> lower = marked(here.whole, {&members});
    std::vector<Finding> findings;
    for (const Finding& finding : all) {
      const std::uint32_t id = finding.component;
      if (!done[id] && !lower[id] && has(id)) findings.push_back(finding);
      if (lower[id] || has(id)) done[id] = true;
    }
    for (const Finding& finding : findings) members.push_back(finding.member);
    record(level, cycle_class, std::move(findings), within, shown);
  };
  take(Class::single, here.whole, closing, [&](std::uint32_t id) { return first[id] != kNone; });
  take(Class::nonadjacent, product, alternating, [&](std::uint32_t id) { return nonadjacent[id]; });
  take(Class::g2, here.whole, edges, [&](std::uint32_t id) { return has_rw[id]; });
}

void Finder::record(std::size_t level, Class cycle_class, std::vector<Finding> findings,
                    const Partition& within, std::span<const RwEdge> edges) {
  if (findings.empty()) return;
  const std::string type = type_name(cycle_class, kOrders[level].suffix);
  report_.counts[type] += findings.size();
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.size < b.size; });
  for (std::size_t at = 0; at < std::min(findings.size(), examples_max_); ++at) {
    const bool writes = cycle_class <= Class::g1c;
    Cycle cycle = writes ? show_writes(level, cycle_class, findings[at], within)
                         : show_anti(level, cycle_class, findings[at], within, edges);
    const std::string shown = cycle_type(cycle);
    if (shown != type) {  // G2 next to cycles of ww and wr, see `mixed`
      --report_.counts[type];
      ++report_.counts[shown];
    }
    report_.examples[shown].push_back(std::move(cycle));
  }
  if (report_.counts[type] == 0) report_.counts.erase(type);
  auto& examples = report_.examples[type];
  std::stable_sort(examples.begin(), examples.end(),
                   [](const Cycle& a, const Cycle& b) { return a.size() < b.size(); });
  if (examples.empty()) report_.examples.erase(type);
}

// Evenly spaced places, so that a short cycle is likely to be met though not every start is tried.
constexpr std::size_t kStartsMax = 32;
constexpr std::uint64_t kWorkMax = 4'000'000;

Cycle Finder::show_writes(std::size_t level, Class cycle_class, const Finding& finding,
                          const Partition& within) {
  std::vector<TxnId> members;
  for (const NodeId node : levels_[level].active) {
    if (!graph_.is_barrier(node) && within.component[node] == finding.component)
      members.push_back(node);
  }
  const EdgeMask allowed =
      kOrders[level].mask | kWw | (cycle_class == Class::g1c ? kWr : EdgeMask{0});
  const std::size_t stride = std::max<std::size_t>(1, members.size() / kStartsMax);
  Cycle best;
  std::uint64_t work = 0;
  for (std::size_t at = 0; at < members.size() && (best.empty() || work < kWorkMax); at += stride) {
    PathSearch::Query query{members[at], members[at], allowed, &within, finding.component, false};
    if (!best.empty()) query.steps_max = best.size() - 1;
    if (auto cycle = search().shortest(query, work)) best = std::move(*cycle);
  }
  return best;
}

// The part of a closed walk without adjacent rw edges that visits no transaction twice and still
// has none: of the two halves at a repeated transaction at least one qualifies, since at most one
// of its visits can both come and go by rw.
Cycle simple_part(Cycle walk) {
  for (std::size_t b = 1; b < walk.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (walk[a].from != walk[b].from) continue;
      const auto begin = walk.begin() + static_cast<std::ptrdiff_t>(a);
      const auto end = walk.begin() + static_cast<std::ptrdiff_t>(b);
      const Cycle inner(begin, end);
      Cycle outer = walk;
      outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(a),
                  outer.begin() + static_cast<std::ptrdiff_t>(b));
      const bool adjacent = inner.front().kind == EdgeKind::rw && inner.back().kind == EdgeKind::rw;
      return simple_part(adjacent ? outer : inner);
    }
  }
  return walk;
}

Cycle Finder::show_anti(std::size_t level, Class cycle_class, const Finding& finding,
                        const Partition& within, std::span<const RwEdge> edges) {
  const auto [begin, end] =
      std::equal_range(edges.begin(), edges.end(), RwEdge{0, 0, finding.component},
                       [](const RwEdge& a, const RwEdge& b) { return a.component < b.component; });
  const auto own = edges.subspan(static_cast<std::size_t>(begin - edges.begin()),
                                 static_cast<std::size_t>(end - begin));
  EdgeMask allowed = kWw | kWr | kOrders[level].mask;
  if (cycle_class == Class::g2) allowed |= kRw;
  const bool nonadjacent = cycle_class == Class::nonadjacent;
  Cycle best;
  std::uint64_t work = 0;
  const auto try_edge = [&](const RwEdge& edge) {
    const std::uint32_t component =
        nonadjacent ? within.component[2 * std::size_t{edge.from}] : finding.component;
    PathSearch::Query query{edge.to, edge.from, allowed, &within, component, nonadjacent};
    if (!best.empty()) query.steps_max = best.size() - 2;
    auto path = search().shortest(query, work);
    if (!path) return;
    path->insert(path->begin(), {edge.from, edge.to, EdgeKind::rw});
    best = std::move(*path);
  };
  if (cycle_class == Class::single) try_edge(edges[finding.start]);
  const std::size_t stride = std::max<std::size_t>(1, own.size() / kStartsMax);
  for (std::size_t at = 0; at < own.size() && (best.empty() || work < kWorkMax); at += stride) {
    try_edge(own[at]);
  }
  return nonadjacent ? simple_part(std::move(best)) : best;
}

}  // namespace

std::string cycle_type(const Cycle& cycle) {
  std::size_t rw = 0;
  bool adjacent = false, wr = false, process = false, realtime = false;
  for (std::size_t at = 0; at < cycle.size(); ++at) {
    const EdgeKind kind = cycle[at].kind;
    if (kind == EdgeKind::rw) {
      ++rw;
      adjacent = adjacent || cycle[(at + 1) % cycle.size()].kind == EdgeKind::rw;
    }
    wr = wr || kind == EdgeKind::wr;
    process = process || kind == EdgeKind::process;
    realtime = realtime || kind == EdgeKind::realtime;
  }
  Class found = wr ? Class::g1c : Class::g0;
  if (rw == 1) found = Class::single;
  if (rw > 1) found = adjacent ? Class::g2 : Class::nonadjacent;
  const std::size_t order = realtime ? 2 : process ? 1 : 0;
  return type_name(found, kOrders[order].suffix);
}

CycleReport find_cycles(const Graph& graph, std::size_t examples_max, std::stop_token stop) {
  return Finder(graph, examples_max, std::move(stop)).run();
}

}  // namespace ordeal::cycles
