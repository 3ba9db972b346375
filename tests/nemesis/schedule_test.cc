#include "nemesis/schedule.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "nemesis/sweep.h"
#include "tests/nemesis/schedule_terrain.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

// Faults of the first sweep: each fault, and each leg, once.
std::size_t sweep_size() {
  const auto faults = all_faults();
  const auto of_legs =
      static_cast<std::size_t>(std::count_if(faults.begin(), faults.end(), [](const auto& choice) {
        return choice.entry->strikes == Strikes::legs;
      }));
  return faults.size() - of_legs + std::max(of_legs, terrain().legs.size());
}

std::vector<ScheduledFault> schedule(std::uint64_t seed, milliseconds chaos,
                                     const ScheduleOptions& options = {}) {
  return make_schedule(options, all_faults(), terrain(), chaos, Random(seed));
}

std::set<std::string> names(const std::vector<ScheduledFault>& schedule) {
  std::set<std::string> found;
  for (const ScheduledFault& scheduled : schedule) found.insert(scheduled.fault.name);
  return found;
}

milliseconds end_of(const ScheduledFault& scheduled) { return planned_times(scheduled).healed; }

constexpr milliseconds kChaos[] = {5s, 10s, 17s, 30s, 60s, 150s, 300s, 600s};
// The faults of the whole catalogue take longer to be seen and healed, one after the other.
constexpr milliseconds kEnough = 60s;

TEST_CASE("one seed gives one schedule, another seed another") {
  CHECK(schedule(7, 60s) == schedule(7, 60s));
  CHECK(schedule(7, 60s) != schedule(8, 60s));
  std::set<std::string> first;
  for (std::uint64_t seed = 0; seed < 400; ++seed) first.insert(schedule(seed, 60s)[0].fault.name);
  CHECK(first.size() == fault_catalog().size());
}

TEST_CASE("the schedule does not depend on what the generator was used for before") {
  Random used(7);
  used.next();
  CHECK(make_schedule({}, all_faults(), terrain(), 60s, used) == schedule(7, 60s));
}

std::set<std::string> legs(const std::vector<ScheduledFault>& schedule) {
  std::set<std::string> found;
  for (const ScheduledFault& each : schedule) {
    found.insert(each.fault.legs.begin(), each.fault.legs.end());
  }
  return found;
}

TEST_CASE("each fault and leg is struck, with quiet before and after, however short chaos is") {
  for (const milliseconds chaos : kChaos) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto planned = schedule(seed, chaos);
      CAPTURE(chaos.count(), seed);
      REQUIRE(names(planned).size() == fault_catalog().size());
      REQUIRE(legs(planned).size() == 3);
      const milliseconds quiet = std::min<milliseconds>(3s, chaos / 5);
      milliseconds before = quiet;
      for (const ScheduledFault& scheduled : planned) {
        REQUIRE(scheduled.start >= before);
        REQUIRE(scheduled.duration > 0ms);
        REQUIRE(scheduled.duration <= 10s);
        REQUIRE(scheduled.start + scheduled.duration <= chaos - quiet);
        if (chaos >= kEnough) REQUIRE(end_of(scheduled) <= chaos - quiet);
        REQUIRE((scheduled.fault.hosts.empty() != scheduled.fault.legs.empty()));
        before = scheduled.start;
      }
    }
  }
}

// Those of the sweep.
std::vector<ScheduledFault> sweep(std::uint64_t seed, const ScheduleOptions& options) {
  auto planned = schedule(seed, 1200s, options);
  REQUIRE(planned.size() > sweep_size());
  planned.resize(sweep_size());
  return planned;
}

TEST_CASE("the first sweep touches each fault and each leg once, one at a time where all is low") {
  ScheduleOptions options;
  options.intensity = intensity("low");
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto planned = sweep(seed, options);
    CHECK(names(planned).size() == fault_catalog().size());
    CHECK(legs(planned).size() == 3);
    for (std::size_t i = 1; i < planned.size(); ++i) {
      CHECK(planned[i].duration == options.duration_min);
      CHECK(planned[i].start == end_of(planned[i - 1]) + options.recovery);
    }
  }
}

TEST_CASE("where faults may overlap, the sweep strikes other hosts and legs meanwhile") {
  milliseconds one_at_a_time{0};
  milliseconds two_at_once{0};
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    ScheduleOptions options;
    const auto planned = sweep(seed, options);
    CHECK(names(planned).size() == fault_catalog().size());
    for (std::size_t i = 1; i < planned.size(); ++i) {
      const bool together = planned[i].start < end_of(planned[i - 1]);
      if (together) {
        CHECK(are_apart(planned[i].fault, planned[i - 1].fault, terrain()));
        CHECK(planned[i].start == planned_times(planned[i - 1]).seen);
      }
    }
    two_at_once += last_healed(planned);
    options.intensity = intensity("low");
    one_at_a_time += last_healed(sweep(seed, options));
  }
  CHECK(two_at_once < one_at_a_time * 3 / 4);
}

TEST_CASE("faults are apart where they strike other hosts, or other legs, and are not the same") {
  const Fault kill_1{"kill", {"n1"}};
  const Fault pause_1{"pause", {"n1"}};
  const Fault pause_23{"pause", {"n2", "n3"}};
  const Fault cut{"partition", {}, {"client-db"}};  // to n1
  const Fault loss{"packet-loss", {}, {"replication"}};
  CHECK(are_apart(kill_1, pause_23, terrain()));
  CHECK_FALSE(are_apart(kill_1, pause_1, terrain()));
  CHECK_FALSE(are_apart(pause_1, pause_23, terrain()));
  CHECK(are_apart(cut, pause_23, terrain()));
  CHECK_FALSE(are_apart(cut, kill_1, terrain()));
  CHECK(are_apart(cut, loss, terrain()));
  CHECK_FALSE(are_apart(loss, {"latency", {}, {"replication"}}, terrain()));
  CHECK_FALSE(are_apart({"bandwidth-limit", {}, {"client-db"}},
                        {"packet-delay", {}, {"replication"}}, terrain()));  // one device
}

// Times at which nothing is broken between one fault and the next.
std::vector<milliseconds> quiet_times(const std::vector<ScheduledFault>& planned) {
  std::vector<milliseconds> quiet;
  milliseconds end = end_of(planned.front());
  for (const ScheduledFault& each : planned) {
    if (each.start > end + 500ms) quiet.push_back(each.start - end);
    end = std::max(end, end_of(each));
  }
  return quiet;
}

TEST_CASE("complexity sets how often faults come and how many at once; recovery is always left") {
  const auto statistics = [](const char* complexity) {
    ScheduleOptions options{.interval = 4s, .duration_min = 2s, .duration_max = 6s};
    options.intensity = intensity(complexity);
    std::size_t faults = 0;
    std::size_t overlaps = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      const auto planned = schedule(seed, 600s, options);
      faults += planned.size();
      for (std::size_t i = 1; i < planned.size(); ++i) {
        if (planned[i].start >= end_of(planned[i - 1])) continue;
        ++overlaps;
        CHECK(planned[i].fault.name != planned[i - 1].fault.name);
      }
      for (const milliseconds quiet : quiet_times(planned)) CHECK(quiet >= options.recovery);
      CHECK(quiet_times(planned).size() > planned.size() / 5);
    }
    return std::pair(faults, overlaps);
  };
  const auto low = statistics("low");
  const auto medium = statistics("medium");
  const auto high = statistics("high");
  CHECK(low.second == 0);
  CHECK(medium.second > 0);
  CHECK(high.second > 2 * medium.second);
  CHECK(low.first < medium.first);
  CHECK(medium.first < high.first);
}

TEST_CASE("kills meet cut legs, and follow some heals at once") {
  std::size_t kill_while_cut = 0;
  std::size_t kill_after_heal = 0;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto planned = schedule(seed, 600s);
    for (const ScheduledFault& kill : planned) {
      if (kill.fault.name != "kill") continue;
      for (const ScheduledFault& other : planned) {
        if (other.fault.name == "kill") continue;
        const bool meets = other.start < end_of(kill) && kill.start < end_of(other);
        if (meets && !other.fault.legs.empty()) ++kill_while_cut;
        if (kill.start > end_of(other) && kill.start <= end_of(other) + 500ms) ++kill_after_heal;
      }
    }
  }
  CHECK(kill_while_cut > 20);
  CHECK(kill_after_heal > 20);
}

TEST_CASE("an outage by a fault is no longer than its cap allows") {
  ScheduleOptions options;
  options.outage_max = {{"kill", 3500ms}};
  std::size_t kills = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const ScheduledFault& each : schedule(seed, 600s, options)) {
      if (each.fault.name != "kill") continue;
      CHECK(end_of(each) - each.start <= 3500ms);
      ++kills;
    }
  }
  CHECK(kills > 0);
}

// The times from which to which the leg is struck, by one fault or by several that overlap, and by
// how many at most.
struct Cut {
  milliseconds begin;
  milliseconds end;
  std::size_t faults;
};
std::vector<Cut> cuts_of(const std::string& leg, const std::vector<ScheduledFault>& planned) {
  std::vector<Cut> cuts;
  for (const ScheduledFault& each : planned) {
    if (each.fault.legs != std::vector{leg}) continue;
    if (cuts.empty() || each.start >= cuts.back().end) cuts.push_back({each.start, 0ms, 0});
    cuts.back().end = std::max(cuts.back().end, end_of(each));
    ++cuts.back().faults;
  }
  return cuts;
}

TEST_CASE("an outage of a leg is no longer than its cap allows, also where faults overlap on it") {
  ScheduleOptions options;
  options.intensity = intensity("high");
  for (const milliseconds cap : {milliseconds{3200}, milliseconds{9000}}) {
    options.outage_max = {{"replication", cap}};
    std::size_t alone = 0;
    std::size_t together = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto planned = schedule(seed, 600s, options);
      for (const Cut& cut : cuts_of("replication", planned)) {
        CHECK(cut.end - cut.begin <= cap);
        ++(cut.faults == 1 ? alone : together);
      }
      for (const ScheduledFault& each : planned) REQUIRE(each.duration > 0ms);
      CHECK(names(planned).size() == fault_catalog().size());
      CHECK(legs(planned).size() == 3);
    }
    CHECK(alone > 0);
    if (cap == 9000ms) CHECK(together > 0);
  }
}

TEST_CASE("the outage that must end first is named, with where it began") {
  const Fault loss{"packet-loss", {}, {"replication"}};
  const Fault slow{"latency", {}, {"replication", "backup"}};
  const OutageCaps caps{{"replication", 6s}, {"backup", 3s}, {"latency", 5s}};
  const auto outage = [&](const std::vector<ScheduledFault>& before, milliseconds start) {
    return capped_outage(caps, before, {.start = start, .duration = 1s, .fault = slow});
  };
  const auto is = [](const std::optional<CappedOutage>& found, const std::string& name,
                     milliseconds begin) {
    return found && found->name == name && found->begin == begin;
  };
  CHECK(is(outage({}, 10s), "backup", 10s));
  CHECK(is(outage({{1s, 2s, loss}}, 10s), "backup", 10s));      // over by then
  CHECK(is(outage({{6s, 9s, loss}}, 10s), "replication", 6s));  // healed after 15 s
  CHECK(is(outage({{4s, 9s, {"kill", {"n1"}}}, {9s, 9s, loss}}, 10s), "backup", 10s));
  CHECK(is(outage({{4s, 3s, loss}, {5s, 9s, loss}}, 9s), "replication", 4s));
  CHECK(is(outage({{1s, 1s, loss}, {5s, 9s, loss}}, 6s), "backup", 6s));
  CHECK_FALSE(capped_outage(caps, {}, {.start = 1s, .duration = 9s, .fault = {"kill", {"n1"}}}));
}

TEST_CASE("without faults or time the schedule is empty") {
  CHECK(make_schedule({}, {}, terrain(), 60s, Random(1)).empty());
  CHECK(schedule(1, 0ms).empty());
}

TEST_CASE("settings of the campaign's section are read and checked") {
  const auto read = [](const Options::Given& given) {
    return schedule_options(Options::make("schedule", schedule_option_specs(), given).value());
  };
  CHECK(read({}).value().interval == 5s);
  CHECK(read({{"outage-max.kill", {"4s", "c.yaml:1:1"}}}).value().outage_max.at("kill") == 4s);
  const auto wrong = read({{"duration-min", {"20s", "c.yaml:2:3"}}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().kind == ErrorKind::bad_input);
  CHECK(wrong.error().message == "schedule: duration-min (20s) is longer than duration-max (10s)");
}

}  // namespace
}  // namespace ordeal
