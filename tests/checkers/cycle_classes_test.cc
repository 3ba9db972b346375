// The classes found against an enumeration of all simple cycles of random small graphs.
#include "checkers/cycles/cycle_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <random>
#include <set>

#include "checkers/cycles/models.h"
#include "checkers/cycles/transactions.h"
#include "tests/checkers/shorthand.h"

namespace ordeal::cycles {
namespace {

using Random = std::mt19937_64;

std::size_t pick(Random& random, std::size_t below) {
  return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
}

// `count` transactions without content, of a few processes, overlapping at random.
History make_times(Random& random, std::size_t count) {
  test::HistoryText text;
  std::vector<bool> busy(1 + pick(random, 6));
  for (std::size_t begun = 0; begun < count || std::count(busy.begin(), busy.end(), true) > 0;) {
    const std::size_t process = pick(random, busy.size());
    const auto id = static_cast<std::int64_t>(process);
    if (busy[process]) {
      text.add(test::end(id, ""));
    } else if (begun < count) {
      text.add(test::begin(id, ""));
      ++begun;
    } else {
      continue;
    }
    busy[process] = !busy[process];
  }
  return std::move(text).build();
}

class Enumeration {
 public:
  Enumeration(const Transactions& txns, const std::vector<DataEdge>& data)
      : size_(txns.size()), out_(size_), on_path_(size_) {
    for (const DataEdge& edge : data) out_[edge.from].push_back({edge.from, edge.to, edge.kind});
    const BigVector<TxnId> next = process_successors(txns);
    for (TxnId a = 0; a < size_; ++a) {
      if (next[a] != kNone) out_[a].push_back({a, next[a], EdgeKind::process});
      for (TxnId b = 0; b < size_; ++b) {
        if (txns[a].completion < txns[b].invocation) out_[a].push_back({a, b, EdgeKind::realtime});
      }
    }
  }
  std::set<std::string> types() {
    for (start_ = 0; start_ < size_; ++start_) extend(start_);
    return types_;
  }

 private:
  // Cycles whose smallest member is start_.
  void extend(TxnId at) {
    on_path_[at] = true;
    for (const CycleStep& step : out_[at]) {
      if (step.to < start_ || (on_path_[step.to] && step.to != start_)) continue;
      path_.push_back(step);
      if (step.to == start_) {
        types_.insert(cycle_type(path_));
      } else {
        extend(step.to);
      }
      path_.pop_back();
    }
    on_path_[at] = false;
  }
  std::uint32_t size_;
  std::vector<Cycle> out_;
  std::vector<bool> on_path_;
  Cycle path_;
  TxnId start_ = 0;
  std::set<std::string> types_;
};

std::vector<DataEdge> make_edges(Random& random, std::uint32_t txns, std::size_t count) {
  const std::size_t kinds = 2 + pick(random, 6);  // the more, the more of them rw
  std::vector<DataEdge> edges;
  while (edges.size() < count) {
    const auto from = static_cast<TxnId>(pick(random, txns));
    const auto to = static_cast<TxnId>(pick(random, txns));
    const auto kind = static_cast<EdgeKind>(std::min<std::size_t>(2, pick(random, kinds)));
    if (from != to) edges.push_back({from, to, kind});
  }
  return edges;
}

struct Outcome {
  CycleReport report;
  std::set<std::string> types;
};

Outcome run(std::uint64_t seed, std::size_t txns, std::size_t edges_max) {
  Random random(seed);
  const History history = make_times(random, txns);
  const Transactions transactions(history);
  const RealTime real_time(transactions);
  const auto edges = make_edges(random, transactions.size(), 1 + pick(random, edges_max));
  const Graph graph(real_time, process_successors(transactions),
                    BigVector<std::uint8_t>(transactions.size(), 1), edges);
  return {find_cycles(graph, 4, {}), Enumeration(transactions, edges).types()};
}

// Every type that is there is reported or implied, every type reported is there, and so are its
// examples.
void compare(std::uint64_t seed, std::size_t txns, std::size_t edges_max,
             std::map<std::string, int>& seen) {
  const auto [report, types] = run(seed, txns, edges_max);
  CAPTURE(seed, txns);
  for (const auto& [type, count] : report.counts) {
    CAPTURE(type);
    REQUIRE(types.contains(type));
    REQUIRE(count >= report.examples.at(type).size());
    for (const Cycle& cycle : report.examples.at(type)) REQUIRE(cycle_type(cycle) == type);
    ++seen[type];
  }
  std::vector<std::string> names;
  for (const auto& [type, count] : report.counts) names.push_back(type);
  REQUIRE(boundary(names).all_violated ==
          boundary(std::vector<std::string>(types.begin(), types.end())).all_violated);
  for (const std::string& type : types) {
    // Beside cycles of ww and wr, G-nonadjacent is searched for, not decided; the models say it
    // all.
    if (type.starts_with("G-nonadjacent")) continue;
    const bool found =
        std::any_of(report.counts.begin(), report.counts.end(),
                    [&](const auto& entry) { return anomaly_implies(entry.first, type); });
    if (found) continue;
    std::string reported;
    for (const auto& [name, count] : report.counts) reported += name + " ";
    CAPTURE(type, reported);
    FAIL("a cycle was missed");
  }
}

TEST_CASE("classes of cycles agree with an enumeration of all simple cycles") {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) compare(seed, 2 + seed % 5, 8, seen);
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) compare(seed, 10, 14, seen);
  for (const char* name : {"G0", "G1c", "G-single-item", "G-nonadjacent-item", "G2-item"}) {
    for (const char* suffix : {"", "-process", "-realtime"}) {
      CAPTURE(name, suffix);
      // Needs more real time than these graphs have; see list_append_test.cc.
      if (std::string(name) + suffix == "G-nonadjacent-item-realtime") continue;
      CHECK(seen[std::string(name) + suffix] > 0);
    }
  }
}

// Long ways round, where no short search answers: v reaches u after `length` steps, or does not.
TEST_CASE("G-single over long paths is decided, either way") {
  for (const bool closes : {true, false}) {
    constexpr TxnId kLength = 3000;
    test::HistoryText text;
    for (TxnId id = 0; id < kLength; ++id) text.add(test::begin(id, ""));
    for (TxnId id = 0; id < kLength; ++id) text.add(test::end(id, ""));
    const History history = std::move(text).build();
    const Transactions transactions(history);
    const RealTime real_time(transactions);
    std::vector<DataEdge> edges;
    for (TxnId id = 0; id + 1 < kLength; ++id) {
      // The way round crosses a second rw edge where it must not close.
      const bool broken = !closes && id == kLength / 2;
      edges.push_back({id, id + 1, broken ? EdgeKind::rw : EdgeKind::ww});
    }
    edges.push_back({kLength - 1, 0, EdgeKind::rw});
    const Graph graph(real_time, process_successors(transactions),
                      BigVector<std::uint8_t>(transactions.size(), 1), edges);
    const CycleReport report = find_cycles(graph, 4, {});
    REQUIRE(report.counts.size() == 1);
    CHECK(report.counts.begin()->first == (closes ? "G-single-item" : "G-nonadjacent-item"));
    CHECK(report.examples.begin()->second.at(0).size() == kLength);
  }
}

}  // namespace
}  // namespace ordeal::cycles
