#include "nemesis/schedule.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

std::vector<FaultChoice> all_faults() {
  std::vector<FaultChoice> choices;
  for (const FaultEntry& entry : fault_catalog()) {
    choices.push_back({&entry, Options::make(entry.name, entry.options, {}).value()});
  }
  return choices;
}

std::vector<ScheduledFault> schedule(std::uint64_t seed, milliseconds chaos,
                                     const ScheduleOptions& options = {}) {
  return make_schedule(options, all_faults(), {"n1", "n2", "n3"}, chaos, Random(seed));
}

std::set<std::string> names(const std::vector<ScheduledFault>& schedule) {
  std::set<std::string> found;
  for (const ScheduledFault& scheduled : schedule) found.insert(scheduled.fault.name);
  return found;
}

milliseconds end_of(const ScheduledFault& scheduled) {
  return scheduled.start + scheduled.duration;
}

constexpr milliseconds kChaos[] = {5s, 10s, 17s, 30s, 60s, 150s, 300s, 600s};

TEST_CASE("one seed gives one schedule, another seed another") {
  CHECK(schedule(7, 60s) == schedule(7, 60s));
  CHECK(schedule(7, 60s) != schedule(8, 60s));
  std::set<std::string> first;
  for (std::uint64_t seed = 0; seed < 50; ++seed) first.insert(schedule(seed, 60s)[0].fault.name);
  CHECK(first.size() == fault_catalog().size());
}

TEST_CASE("the schedule does not depend on what the generator was used for before") {
  Random used(7);
  used.next();
  CHECK(make_schedule({}, all_faults(), {"n1", "n2", "n3"}, 60s, used) == schedule(7, 60s));
}

TEST_CASE("each fault occurs, alone, with quiet before and after, for all seeds and durations") {
  for (const milliseconds chaos : kChaos) {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const auto planned = schedule(seed, chaos);
      CAPTURE(chaos.count(), seed);
      REQUIRE(names(planned).size() == fault_catalog().size());
      const milliseconds quiet = std::min<milliseconds>(3s, chaos / 5);
      milliseconds free = quiet;
      for (const ScheduledFault& scheduled : planned) {
        REQUIRE(scheduled.start >= free);
        REQUIRE(scheduled.duration > 0ms);
        REQUIRE(scheduled.duration <= 10s);
        REQUIRE(end_of(scheduled) <= chaos - quiet);
        REQUIRE_FALSE(scheduled.fault.hosts.empty());
        free = end_of(scheduled);
      }
    }
  }
}

TEST_CASE("the first sweep touches each fault once") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    auto planned = schedule(seed, 600s);
    planned.resize(fault_catalog().size());
    CHECK(names(planned).size() == fault_catalog().size());
  }
}

TEST_CASE("long chaos has more faults than one sweep, with times as set") {
  const ScheduleOptions options{.interval = 2s, .duration_min = 4s, .duration_max = 4s};
  const auto planned = schedule(1, 120s, options);
  CHECK(planned.size() > 2 * fault_catalog().size());
  for (const ScheduledFault& scheduled : planned) CHECK(scheduled.duration == 4s);
}

TEST_CASE("with overlap, different faults may be active at once, but never one twice") {
  const ScheduleOptions options{
      .interval = 2s, .duration_min = 5s, .duration_max = 9s, .overlap = true};
  bool overlapped = false;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto planned = schedule(seed, 100s, options);
    CHECK(names(planned).size() == fault_catalog().size());
    for (std::size_t a = 0; a < planned.size(); ++a) {
      CHECK(end_of(planned[a]) <= 97s);
      for (std::size_t b = a + 1; b < planned.size(); ++b) {
        REQUIRE(planned[a].start <= planned[b].start);
        if (planned[b].start >= end_of(planned[a])) continue;
        overlapped = true;
        CHECK(planned[a].fault.name != planned[b].fault.name);
      }
    }
  }
  CHECK(overlapped);
}

TEST_CASE("without faults, hosts or time the schedule is empty") {
  CHECK(make_schedule({}, {}, {"n1"}, 60s, Random(1)).empty());
  CHECK(make_schedule({}, all_faults(), {}, 60s, Random(1)).empty());
  CHECK(schedule(1, 0ms).empty());
}

TEST_CASE("settings of the campaign's section are read and checked") {
  const auto read = [](const Options::Given& given) {
    return schedule_options(Options::make("schedule", schedule_option_specs(), given).value());
  };
  CHECK(read({}).value().interval == 5s);
  CHECK(read({{"overlap", {"true", "c.yaml:1:1"}}}).value().overlap);
  const auto wrong = read({{"duration-min", {"20s", "c.yaml:2:3"}}});
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().kind == ErrorKind::bad_input);
  CHECK(wrong.error().message == "schedule: duration-min (20s) is longer than duration-max (10s)");
}

TEST_CASE("a scheduled fault is described in one line") {
  const ScheduledFault scheduled{.start = 12500ms,
                                 .duration = 4s,
                                 .fault = {"partition", {"n1", "n2"}, {{"direction", "in"}}}};
  CHECK(describe(scheduled) == "12.500s +4.000s partition n1,n2 direction=in");
}

}  // namespace
}  // namespace ordeal
