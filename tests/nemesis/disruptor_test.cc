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
  Fixture() {
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    journal = HealJournal::open(folder + "/heal.jsonl").value();
    HostSpec spec;
    spec.name = "n1";
    auto host = std::make_unique<FakeHost>(spec);
    host->answer = [this](const Command& command) {
      CommandOutput output;
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
          records.push_back(std::to_string(now.count()) + " " + fault_function(event) +
                            (note.empty() ? "" : " failed"));
        },
        EngineSettings{.probe_timeout = 0ms});
  }
  ~Fixture() { std::filesystem::remove_all(folder); }

  static ServerControl control(const Host&) {
    ServerControl result;
    result.start = command({"start"});
    result.kill = command({"kill-server"});
    result.pause = command({"pause"});
    result.resume = command({"resume"});
    return result;
  }
  Status run(const std::vector<ScheduledFault>& schedule) {
    return run_schedule(*engine, schedule,
                        [this](milliseconds moment, const std::stop_token&) {
                          now = std::max(now, moment);
                          return true;
                        },
                        {});
  }

  std::string folder = "/tmp/ordeal-disruptor-XXXXXX";
  std::unique_ptr<HealJournal> journal;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<FaultEngine> engine;
  milliseconds now{0};
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
  const Status done = run_schedule(*fixture.engine, schedule, wait_on_steady_clock(begin),
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
