#include "nemesis/disruptor.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <thread>

#include "nemesis/plan.h"
#include "remote/fake_host.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

// A fake host, and time that jumps to whatever is waited for.
struct Fixture {
  explicit Fixture(milliseconds probe_timeout = 0ms) {
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    journal = HealJournal::open(folder + "/heal.jsonl").value();
    HostSpec spec;
    spec.name = "n1";
    auto host = std::make_unique<FakeHost>(spec);
    host->answer = [this](const Command& command) {
      CommandOutput output;
      if (command.arguments[2].find("processes are") != std::string::npos) return see(command);
      const std::string step = "\n{ " + failing + "; }";  // of the engine's scripts
      const std::string& text = command.arguments[2];
      // The watchdog's undo stands in what injects.
      const bool injects = text.find("setsid") != std::string::npos;
      const bool fails = !failing.empty() && text.find(step) != std::string::npos &&
                         injects == (failing == "pause");
      if (fails && failures-- > 0) output.exit_status = 1;
      return output;
    };
    std::vector<std::unique_ptr<Host>> hosts;
    hosts.push_back(std::move(host));
    cluster = std::make_unique<Cluster>(std::move(hosts));
    Battlefield field{
        .control_address = "", .hosts = {cluster->hosts()[0]}, .server = control, .run_id = "r"};
    engine = std::make_unique<FaultEngine>(
        *cluster, field, *journal,
        [this](Phase phase, const FaultEvent& event, const std::string& note) {
          if (phase == Phase::invoke) return;
          const std::lock_guard lock(mutex);
          records.push_back(std::to_string(now.count()) + " " + fault_function(event) +
                            (note.empty() ? "" : " failed"));
        },
        EngineSettings{.probe_timeout = probe_timeout});
  }
  ~Fixture() { std::filesystem::remove_all(folder); }

  static ServerControl control(const Host&) {
    ServerControl result;
    result.start = command({"start"});
    result.kill = command({"kill-server"});
    result.pause = command({"pause"});
    result.resume = command({"resume"});
    result.state = command({"state"});
    return result;
  }
  // A probe; each takes as long as the next of `to_see`.
  CommandOutput see(const Command& command) {
    CommandOutput output;
    const bool for_kill = command.arguments.size() == 6 && command.arguments[5] == "absent";
    if (for_kill && nothing_is_killed) output.exit_status = 1;
    if (to_see.empty()) return output;
    now += to_see.front();
    to_see.erase(to_see.begin());
    return output;
  }
  Status run(const std::vector<ScheduledFault>& schedule) {
    const ChaosClock clock{.now = [this] { return now; },
                           .wait_until =
                               [this](milliseconds moment, const std::stop_token&) {
                                 now = std::max(now, moment);
                                 return true;
                               }};
    return run_schedule(
        *engine, schedule,
        {.clock = clock, .recovery = 1s, .outage_max = outage_max, .launch = std::launch::deferred},
        {});
  }

  std::string folder = "/tmp/ordeal-disruptor-XXXXXX";
  std::unique_ptr<HealJournal> journal;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<FaultEngine> engine;
  milliseconds now{0};
  std::vector<milliseconds> to_see;
  OutageCaps outage_max;
  bool nothing_is_killed = false;
  std::mutex mutex;
  std::vector<std::string> records;
  std::string failing;
  int failures = 1'000'000;
};

using Texts = std::vector<std::string>;
const Fault kPause{"pause", {"n1"}};
const Fault kKill{"kill", {"n1"}};

TEST_CASE("each fault is injected when due and healed at its end, also when they overlap") {
  Fixture fixture;
  REQUIRE(fixture.run({{100ms, 50ms, kPause}, {200ms, 300ms, kKill}, {300ms, 50ms, kPause}}));
  CHECK(fixture.records == Texts{"100 start-pause", "150 stop-pause", "200 start-kill",
                                 "300 start-pause", "350 stop-pause", "500 stop-kill"});
}

TEST_CASE("at one moment healing comes before the next injection") {
  Fixture fixture;
  REQUIRE(fixture.run({{100ms, 100ms, kPause}, {200ms, 100ms, kPause}}));
  CHECK(fixture.records ==
        Texts{"100 start-pause", "200 stop-pause", "200 start-pause", "300 stop-pause"});
}

TEST_CASE("the schedule goes on after an injection that failed, which only the record tells") {
  Fixture fixture;
  fixture.failing = "pause";
  const Status done = fixture.run({{100ms, 50ms, kPause}, {200ms, 50ms, kKill}});
  CHECK(done);
  CHECK(fixture.records == Texts{"100 start-pause failed", "200 start-kill", "250 stop-kill"});
}

TEST_CASE("a healing that failed is tried again a second later, five times at most") {
  Fixture fixture;
  fixture.failing = "resume";
  SECTION("and succeeds at last") {
    fixture.failures = 2;
    CHECK(fixture.run({{100ms, 50ms, kPause}}));
    CHECK(fixture.records == Texts{"100 start-pause", "150 stop-pause failed",
                                   "1150 stop-pause failed", "2150 stop-pause"});
    CHECK(fixture.engine->active().empty());
  }
  SECTION("or is left to heal_all") {
    CHECK_FALSE(fixture.run({{100ms, 50ms, kPause}}));
    CHECK(fixture.records.size() == 6);
    CHECK(fixture.engine->active().size() == 1);
  }
}

TEST_CASE("a fault is held for its duration from the moment its effect was seen") {
  Fixture fixture;
  fixture.to_see = {2s};
  REQUIRE(fixture.run({{100ms, 50ms, kPause}}));
  CHECK(fixture.records == Texts{"2100 start-pause", "2150 stop-pause"});
}

TEST_CASE("however late it was seen, a fault is healed by the time that its cap sets") {
  Fixture fixture;
  fixture.outage_max = {{"pause", 2500ms + find_fault("pause")->typical.to_heal}};
  fixture.to_see = {2s};
  REQUIRE(fixture.run({{100ms, 3s, kPause}}));
  CHECK(fixture.records == Texts{"2100 start-pause", "2600 stop-pause"});
}

TEST_CASE("faults that overlap on a leg are healed by the time that the leg's cap sets") {
  const Fault pause{"pause", {"n1"}, {"client-db"}};  // as faults of legs have them
  const Fault kill{"kill", {"n1"}, {"client-db"}};
  Fixture fixture;
  fixture.outage_max = {{"client-db", 3s}};
  const milliseconds to_heal = find_fault("kill")->typical.to_heal;
  SECTION("by what is left of it, from the first one's begin") {
    REQUIRE(fixture.run({{100ms, 1s, pause}, {600ms, 9s, kill}}));
    CHECK(fixture.records == Texts{"100 start-pause", "600 start-kill", "1100 stop-pause",
                                   std::to_string((3100ms - to_heal).count()) + " stop-kill"});
  }
  SECTION("one that could not be seen any more waits until the leg is whole") {
    fixture.to_see = {2s};  // pause is late, and held until 2900
    REQUIRE(fixture.run({{100ms, 2s, pause}, {2500ms, 1s, kill}}));
    CHECK(fixture.records == Texts{"2100 start-pause",
                                   std::to_string((3100ms - to_heal).count()) + " stop-pause",
                                   std::to_string((3100ms - to_heal).count()) + " start-kill",
                                   std::to_string((4100ms - to_heal).count()) + " stop-kill"});
  }
  SECTION("and an outage that begins later has all of it") {
    REQUIRE(fixture.run({{100ms, 100ms, pause}, {5s, 9s, kill}}));
    CHECK(fixture.records == Texts{"100 start-pause", "200 stop-pause", "5000 start-kill",
                                   std::to_string((8s - to_heal) / 1ms) + " stop-kill"});
  }
}

TEST_CASE("where the schedule has time without faults, some is left after a late healing") {
  Fixture fixture;
  SECTION("as much as is needed to recover") {
    fixture.to_see = {6s};
    REQUIRE(fixture.run({{100ms, 50ms, kPause}, {5s, 50ms, kKill}}));
    CHECK(fixture.records ==
          Texts{"6100 start-pause", "6150 stop-pause", "7150 start-kill", "7200 stop-kill"});
  }
  SECTION("as much as the schedule has, where that is less: an immediate kill") {
    const auto healed = planned_times({100ms, 50ms, kPause}).healed;
    fixture.to_see = {6s};
    REQUIRE(fixture.run({{100ms, 50ms, kPause}, {healed + 200ms, 50ms, kKill}}));
    CHECK(fixture.records ==
          Texts{"6100 start-pause", "6150 stop-pause", "6350 start-kill", "6400 stop-kill"});
  }
  SECTION("after an injection that failed as well") {
    fixture.failing = "pause";
    fixture.to_see = {6s};  // that it is gone
    REQUIRE(fixture.run({{100ms, 50ms, kPause}, {5s, 50ms, kKill}}));
    CHECK(fixture.records == Texts{"6100 start-pause failed", "7100 start-kill", "7150 stop-kill"});
  }
}

TEST_CASE("what joins a fault that was late is as late") {
  Fixture fixture;
  fixture.to_see = {6s};
  REQUIRE(fixture.run({{100ms, 50ms, kPause}, {5s, 2s, kKill}, {5800ms, 50ms, kPause}}));
  CHECK(fixture.records == Texts{"6100 start-pause", "6150 stop-pause", "7150 start-kill",
                                 "7950 start-pause", "8000 stop-pause", "9150 stop-kill"});
}

TEST_CASE("a fault waits for one of the same name") {
  Fixture fixture;
  fixture.to_see = {150ms};
  REQUIRE(fixture.run({{100ms, 100ms, kPause}, {200ms, 100ms, kPause}}));
  CHECK(fixture.records ==
        Texts{"250 start-pause", "350 stop-pause", "350 start-pause", "450 stop-pause"});
}

TEST_CASE("a fault is healed in time while another one's effect is looked for in vain") {
  Fixture fixture(5s);
  fixture.nothing_is_killed = true;  // which is looked for for a second
  const std::vector<ScheduledFault> schedule{{0ms, 400ms, kPause}, {200ms, 100ms, kKill}};
  REQUIRE(run_schedule(*fixture.engine, schedule,
                       {.clock = steady_chaos_clock(std::chrono::steady_clock::now())}, {}));
  CHECK(fixture.records == Texts{"0 start-pause", "0 stop-pause", "0 start-kill failed"});
}

TEST_CASE("a stop request ends the wait at once and leaves active faults to the caller") {
  Fixture fixture;
  std::stop_source stop;
  const std::vector<ScheduledFault> schedule{{0ms, 60s, kPause}, {100s, 1s, kKill}};
  const auto begin = std::chrono::steady_clock::now();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    stop.request_stop();
  });
  std::size_t begun = 0;
  const Status done = run_schedule(*fixture.engine, schedule, {.clock = steady_chaos_clock(begin)},
                                   stop.get_token(), &begun);
  REQUIRE_FALSE(done);
  CHECK(begun == 1);
  CHECK(done.error().kind == ErrorKind::stopped);
  CHECK(std::chrono::steady_clock::now() - begin < 5s);
  CHECK(fixture.engine->active().size() == 1);
  REQUIRE(fixture.engine->heal_all());
}

}  // namespace
}  // namespace ordeal
