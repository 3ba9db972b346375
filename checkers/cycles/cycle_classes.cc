#include "checkers/cycles/cycle_classes.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "checkers/cycles/anti_edges.h"
#include "checkers/cycles/scc.h"
#include "checkers/cycles/single_cycles.h"
#include "checkers/cycles/witness.h"

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

// A component known to hold a cycle of a class.
struct Finding {
  std::uint32_t component = 0;
  std::uint32_t size = 0;
  TxnId member = kNone;  // the smallest
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
      : graph_(graph), examples_max_(examples_max), stop_(std::move(stop)), witness_(graph) {}

  CycleReport run();

 private:
  struct Level {
    Partition whole;             // by every edge of the level
    std::vector<NodeId> active;  // in cycles
  };
  // Members of components that have a class: those around them, and at higher levels, have it too.
  using Members = std::vector<TxnId>;

  void decide(std::size_t level);
  void decide_writes(std::size_t level, const Partition& base, const Partition& writes);
  void decide_anti_dependencies(std::size_t level, const Partition& base, const Partition& product);
  void find_mixed(std::size_t level, AntiEdges& edges, const std::vector<bool>& done,
                  const Partition& product);
  template <class Has>
  std::vector<Finding> take(std::size_t level, Class cycle_class, std::vector<bool>& done,
                            Has&& has);
  template <class Show>
  void record(std::size_t level, Class cycle_class, std::vector<Finding> findings, Show&& show);
  std::vector<TxnId> members(std::size_t level, const Finding& finding,
                             const Partition& within) const;
  std::vector<Finding> findings_in(const Partition& partition, std::span<const NodeId> nodes,
                                   const std::vector<bool>& skip) const;
  std::vector<bool> marked(const Partition& partition,
                           std::initializer_list<const Members*> found) const;
  Members& members_of(Class cycle_class) { return found_[static_cast<std::size_t>(cycle_class)]; }

  const Graph& graph_;
  std::size_t examples_max_;
  std::stop_token stop_;
  Witness witness_;
  CycleReport report_;
  std::array<Level, 3> levels_;
  std::array<Members, 5> found_;  // by class
};

CycleReport Finder::run() {
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
  for (auto& [type, examples] : report_.examples) {
    std::stable_sort(examples.begin(), examples.end(),
                     [](const Cycle& a, const Cycle& b) { return a.size() < b.size(); });
  }
  return std::move(report_);
}

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
  const EdgeMask mask = kOrders[level].mask;
  Members& g0 = members_of(Class::g0);
  Members& g1c = members_of(Class::g1c);
  auto findings = findings_in(writes, active, marked(writes, {&g0}));
  for (const Finding& finding : findings) g0.push_back(finding.member);
  record(level, Class::g0, std::move(findings), [&](const Finding& finding) {
    return witness_.through(members(level, finding, writes), kWw | mask, writes);
  });
  findings = findings_in(base, active, marked(base, {&g0, &g1c}));
  for (const Finding& finding : findings) g1c.push_back(finding.member);
  record(level, Class::g1c, std::move(findings), [&](const Finding& finding) {
    return witness_.through(members(level, finding, base), kWw | kWr | mask, base);
  });
}

void Finder::decide_anti_dependencies(std::size_t level, const Partition& base,
                                      const Partition& product) {
  const Partition& whole = levels_[level].whole;
  const EdgeMask allowed = kWw | kWr | kOrders[level].mask;
  AntiEdges edges = find_anti_edges(graph_, levels_[level].active, whole, base, product);
  std::vector<bool> done = marked(whole, {&members_of(Class::single)});
  std::erase_if(edges.closing, [&](const RwEdge& edge) { return done[edge.component]; });
  std::vector<std::uint32_t> first(whole.size.size(), kNone);  // edge that closes a G-single
  decide_single(graph_, allowed, edges.closing, whole, base, first, stop_);
  if (stop_.stop_requested()) {
    report_.stopped = true;
    return;
  }
  const auto singles =
      take(level, Class::single, done, [&](auto id) { return first[id] != kNone; });
  record(level, Class::single, singles, [&](const Finding& finding) {
    const auto own = edges_of(edges.closing, finding.component);
    std::vector<RwEdge> starts(own.begin(), own.end());
    std::swap(starts.front(),
              starts[first[finding.component] - (own.data() - edges.closing.data())]);
    return witness_.closing(starts, allowed, whole);
  });
  find_mixed(level, edges, done, product);
  const auto alternates = components_of(edges.alternating, whole);
  const auto alternating =
      take(level, Class::nonadjacent, done, [&](auto id) { return alternates[id]; });
  record(level, Class::nonadjacent, alternating, [&](const Finding& finding) {
    return witness_.alternating(edges_of(edges.alternating, finding.component), allowed, product);
  });
  const auto has_rw = components_of(edges.inside, whole);
  const auto others = take(level, Class::g2, done, [&](auto id) { return has_rw[id]; });
  record(level, Class::g2, others, [&](const Finding& finding) {
    return witness_.closing(edges_of(edges.inside, finding.component), allowed | kRw, whole);
  });
}

// Where a component of the product graph also holds cycles without rw edges, its rw edges need not
// lie on a *simple* nonadjacent cycle. No model depends on it (what forbids G-nonadjacent forbids
// those others as well), so whether to report one is left to a search.
void Finder::find_mixed(std::size_t level, AntiEdges& edges, const std::vector<bool>& done,
                        const Partition& product) {
  const Partition& whole = levels_[level].whole;
  const auto sure = components_of(edges.alternating, whole);
  std::vector<RwEdge> added;
  for (std::size_t at = 0; at < edges.closing.size();) {
    const std::uint32_t component = edges.closing[at].component;
    const auto own = edges_of(edges.closing, component);
    at += own.size();
    if (done[component] || sure[component]) continue;
    const EdgeMask allowed = kWw | kWr | kOrders[level].mask;
    if (witness_.alternating(own, allowed, product).empty()) continue;
    added.insert(added.end(), own.begin(), own.end());
  }
  edges.alternating.insert(edges.alternating.end(), added.begin(), added.end());
  std::stable_sort(edges.alternating.begin(), edges.alternating.end(),
                   [](const RwEdge& a, const RwEdge& b) { return a.component < b.component; });
}

// The components that have the class and neither a stronger one nor this one at a lower level;
// marks those that have it as done.
template <class Has>
std::vector<Finding> Finder::take(std::size_t level, Class cycle_class, std::vector<bool>& done,
                                  Has&& has) {
  const Partition& whole = levels_[level].whole;
  Members& members = members_of(cycle_class);
  const std::vector<bool> lower = marked(whole, {&members});
  std::vector<bool> skip(done.size());
  for (std::uint32_t id = 0; id < done.size(); ++id) {
    skip[id] = done[id] || lower[id] || !has(id);
    done[id] = done[id] || lower[id] || has(id);
  }
  std::vector<Finding> findings = findings_in(whole, levels_[level].active, skip);
  for (const Finding& finding : findings) members.push_back(finding.member);
  return findings;
}

std::vector<TxnId> Finder::members(std::size_t level, const Finding& finding,
                                   const Partition& within) const {
  std::vector<TxnId> result;
  for (const NodeId node : levels_[level].active) {
    const bool own = within.component[node] == finding.component;
    if (own && !graph_.is_barrier(node)) result.push_back(node);
  }
  return result;
}

template <class Show>
void Finder::record(std::size_t level, Class cycle_class, std::vector<Finding> findings,
                    Show&& show) {
  if (findings.empty()) return;
  const std::string type = type_name(cycle_class, kOrders[level].suffix);
  report_.counts[type] += findings.size();
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.size < b.size; });
  for (std::size_t at = 0; at < std::min(findings.size(), examples_max_); ++at) {
    Cycle cycle = show(findings[at]);
    const std::string shown = cycle_type(cycle);
    if (shown != type) {  // see find_mixed()
      --report_.counts[type];
      ++report_.counts[shown];
    }
    report_.examples[shown].push_back(std::move(cycle));
  }
  if (report_.counts[type] == 0) report_.counts.erase(type);
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
