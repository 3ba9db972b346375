// The histories before "one read" are those of Jepsen's own tests, with the same results.
#include <fmt/ranges.h>

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "checkers/set_timeline.h"
#include "tests/checkers/single_objects.h"

namespace ordeal::test {
namespace {

CheckResult check_full(Events events) { return events.check("set-full"); }
CheckResult check_linearizable(Events events) {
  return events.check("set-full", {{"linearizable", {"true", "test"}}});
}

// "a a' r r-": process 0 adds 0, process 1 reads; ' and + and - complete.
CheckResult check_steps(const std::string& steps) {
  Events events;
  std::istringstream in(steps);
  for (std::string step; in >> step;) {
    if (step == "a") events.invoke(0, "add", "0");
    if (step == "a'") events.ok(0, "add", "0");
    if (step == "r") events.invoke(1, "read");
    if (step == "r+") events.ok(1, "read", "#{0}");
    if (step == "r-") events.ok(1, "read", "#{}");
  }
  return check_full(std::move(events));
}

TEST_CASE("set-full: never read") {
  for (const auto* steps : {"a a'", "a r r-", "r a r- a'", "r a a' r-", "a r r- a'", "a r a' r-"}) {
    INFO(steps);
    const auto result = check_steps(steps);
    CHECK(result.validity == Validity::unknown);
    CHECK(result.fields == Fields{{"attempt-count", "1"},
                                  {"stable-count", "0"},
                                  {"lost", "[]"},
                                  {"lost-count", "0"},
                                  {"never-read", "[0]"},
                                  {"never-read-count", "1"},
                                  {"stale", "[]"},
                                  {"stale-count", "0"},
                                  {"worst-stale", "[]"},
                                  {"duplicated", "{}"},
                                  {"duplicated-count", "0"}});
  }
}

TEST_CASE("set-full: read at the same time as added, or later") {
  for (const auto* steps : {"r a r+ a'", "r a a' r+", "a r r+ a'", "a r a' r+", "a a' r r+"}) {
    INFO(steps);
    const auto result = check_steps(steps);
    CHECK(result.validity == Validity::valid);
    CHECK(result.fields.at("stable-count") == "1");
    CHECK(result.fields.at("never-read") == "[]");
    CHECK(result.fields.at("stable-latencies") == R"({"0":0,"0.5":0,"0.95":0,"0.99":0,"1":0})");
    CHECK(result.reason == "1 of 1 elements are stable, none is lost");
  }
}

TEST_CASE("set-full: absent after it was added") {
  const auto result = check_steps("a a' r r-");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"lost"});
  CHECK(result.fields.at("lost") == "[0]");
  CHECK(result.fields.at("lost-latencies") == R"({"0":0,"0.5":0,"0.95":0,"0.99":0,"1":0})");
  CHECK(result.anomalies.at(0).operations == std::vector<std::uint64_t>{1, 3});
  CHECK(result.anomalies.at(0).explanation ==
        "0 was in the set when operation 1 completed, but operation 3, which began later, did not "
        "read it, and no other read did");
}

TEST_CASE("set-full: present, then missing") {
  const auto result = check_full(Events()
                                     .invoke(0, "add", "0")
                                     .invoke(1, "add", "1")
                                     .invoke(2, "read")
                                     .ok(2, "read", "#{1}")
                                     .ok(0, "add", "0")
                                     .ok(1, "add", "1")
                                     .invoke(2, "read")
                                     .ok(2, "read", "#{0 1}")
                                     .invoke(2, "read")
                                     .ok(2, "read", "#{0}")
                                     .invoke(2, "read")
                                     .ok(2, "read", "#{}"));
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields.at("lost") == "[0,1]");
  CHECK(result.fields.at("lost-latencies") == R"({"0":3,"0.5":4,"0.95":4,"0.99":4,"1":4})");
  CHECK(result.anomalies.at(0).explanation ==
        "0 was in the set when operation 4 completed, but operation 11, which began later, did "
        "not read it, and no read that began after that of operation 9 did");
}

Events flutter() {
  return Events()
      .invoke(0, "add", "0")
      .ok(0, "add", "0")
      .invoke(1, "add", "1")
      .invoke(2, "read")
      .ok(2, "read", "#{1}")
      .ok(1, "add", "1")
      .invoke(2, "read")
      .invoke(3, "read")
      .ok(3, "read", "#{1}")
      .ok(2, "read", "#{0}");
}

TEST_CASE("set-full: flutter, then stable or lost") {
  const auto result = check_full(flutter());
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields ==
        Fields{{"attempt-count", "2"},
               {"lost", "[0]"},
               {"lost-count", "1"},
               {"never-read", "[]"},
               {"never-read-count", "0"},
               {"duplicated", "{}"},
               {"duplicated-count", "0"},
               {"stale", "[1]"},
               {"stale-count", "1"},
               {"worst-stale", R"([{"element":1,"outcome":"stable","stable-latency":2,)"
                               R"("lost-latency":null,"known":4,"last-absent":6}])"},
               {"stable-count", "1"},
               {"lost-latencies", R"({"0":5,"0.5":5,"0.95":5,"0.99":5,"1":5})"},
               {"stable-latencies", R"({"0":2,"0.5":2,"0.95":2,"0.99":2,"1":2})"}});
  CHECK(result.anomaly_types == Names{"lost"});
  CHECK(result.anomaly_types_beyond == Names{"stale"});
}

TEST_CASE("set-full: one read without a known element is stale, and not linearizable") {
  const auto stale = [] { return Events().pair("add", "0").get("read", "[]").get("read", "[0]"); };
  CHECK(check_full(stale()).validity == Validity::valid);
  const auto result = check_linearizable(stale());
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"stale"});
  CHECK(result.anomalies.at(0).operations == std::vector<std::uint64_t>{1, 3, 5});
  CHECK(result.anomalies.at(0).explanation ==
        "0 was in the set when operation 1 completed, but operation 3, which began later, did not "
        "read it; operation 5 did again");
  const auto concurrent =
      Events().invoke(1, "read").pair("add", "0").ok(1, "read", "[]").get("read", "[0]");
  CHECK(check_linearizable(concurrent).validity == Validity::valid);
}

TEST_CASE("set-full: an element twice in one read") {
  const auto result =
      check_full(Events().pair("add", "5").get("read", "[5 5]").get("read", "[5 5 5]"));
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"duplicated"});
  CHECK(result.fields.at("duplicated") == R"({"5":3})");
  CHECK(result.fields.at("duplicated-count") == "1");
  CHECK(result.anomalies.at(0).explanation == "operation 5 read 5 3 times");
}

TEST_CASE("set-full: unknown where nothing can be read") {
  CHECK(check_full(Events()).reason == "no element is known to have stayed in the set");
  CHECK(check_full(Events().pair("add", "1").get("read", "1")).reason ==
        "operation 3 read something that is no set or list");
  CHECK(check_full(Events().pair("add", "1").get("read", "nil")).anomaly_types == Names{"lost"});
}

// As Jepsen does it: every read updates every element there is.
class Naive {
 public:
  void add(Position at, std::int64_t element) {
    elements_[element] = {Value(element), at, kNoPosition, kNoPosition, kNoPosition};
  }
  void acknowledge(Position at, std::int64_t element) { know(elements_.at(element), at); }
  void read(Position invoked, Position at, const std::set<std::int64_t>& present) {
    for (auto& [name, element] : elements_) {
      if (present.contains(name)) know(element, at);
      Position& last = present.contains(name) ? element.last_present : element.last_absent;
      if (last == kNoPosition || last < invoked) last = invoked;
    }
  }
  void compare(const std::vector<SetElement>& others) const {
    REQUIRE(others.size() == elements_.size());
    for (const SetElement& other : others) {
      const SetElement& element = elements_.at(other.value.integer());
      CHECK(other.added == element.added);
      CHECK(other.known == element.known);
      CHECK(other.last_present == element.last_present);
      CHECK(other.last_absent == element.last_absent);
    }
  }

 private:
  static void know(SetElement& element, Position at) {
    if (element.known == kNoPosition) element.known = at;
  }
  std::map<std::int64_t, SetElement> elements_;
};

// Three processes; each event starts or ends what its process does.
void compare_with_naive(std::mt19937_64& random) {
  HistoryBuilder builder;
  Naive naive;
  struct Running {
    bool is_read = false;
    std::int64_t element = 0;
    Position invoked = kNoPosition;
  };
  std::array<Running, 3> running;
  const auto add = [&](std::size_t process, Phase phase, bool is_read, const std::string& value) {
    builder.add({builder.so_far().size(),
                 {},
                 ProcessId{static_cast<std::int64_t>(process)},
                 phase,
                 is_read ? "read" : "add",
                 Opaque{value},
                 ""});
  };
  for (Position at = 0; at < 40; ++at) {
    const std::size_t process = random() % running.size();
    Running& now = running[process];
    if (now.invoked == kNoPosition) {
      now = {random() % 2 == 0, static_cast<std::int64_t>(random() % 6), at};
      if (!now.is_read) naive.add(at, now.element);
      add(process, Phase::invoke, now.is_read, now.is_read ? "nil" : std::to_string(now.element));
      continue;
    }
    std::set<std::int64_t> present;
    for (std::int64_t element = 0; element < 7; ++element) {
      if (random() % 3 != 0) present.insert(element);
    }
    const bool ok = random() % 4 != 0;
    if (ok && now.is_read) naive.read(now.invoked, at, present);
    if (ok && !now.is_read) naive.acknowledge(at, now.element);
    add(process, ok ? Phase::ok : Phase::fail, now.is_read,
        now.is_read ? fmt::format("#{{{}}}", fmt::join(present, " "))
                    : std::to_string(now.element));
    now.invoked = kNoPosition;
  }
  const History history = std::move(builder).build();
  SetTimeline timeline(history);
  REQUIRE(timeline.run({}));
  naive.compare(timeline.elements());
}

TEST_CASE("set-full: timelines of random histories are those of the naive way") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 500; ++round) compare_with_naive(random);
}

}  // namespace
}  // namespace ordeal::test
