// The engine on hosts that only record what they were asked: order, failures, records.
#include "nemesis/engine.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "nemesis/control_node.h"
#include "nemesis/plan.h"
#include "nemesis/probe.h"
#include "remote/fake_host.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

ServerControl control(const Host&) {
  ServerControl result;
  result.start = command({"start"});
  result.kill = command({"kill-server"});
  result.pause = command({"pause"});
  result.resume = command({"resume"});
  result.state = command({"state"});
  result.clock_offset = command({"clock"});
  result.port = 5432;
  return result;
}

HostSpec spec(const char* name) {
  HostSpec result;
  result.name = name;
  result.power = "power";
  return result;
}

// What the engine's scripts are for: "arm+pause", "resume", "seen" (a probe), "disarm".
std::string kind(const Command& command) {
  const std::string& text = command.arguments[2];
  if (text.find("processes are") != std::string::npos) return "seen";
  if (text.find("the power of") != std::string::npos) return "seen";
  const bool arm = text.find("setsid") != std::string::npos;
  for (const char* step : {"off", "on"}) {
    if (text.find(std::string("power ") + step + "; }") == std::string::npos) continue;
    return (arm ? "arm+power " : "power ") + std::string(step);
  }
  for (const char* step : {"pause", "kill-server", "resume", "start"}) {
    if (text.find(std::string("\n{ ") + step + "; }") == std::string::npos) continue;
    return (arm ? "arm+" : "") + std::string(step);
  }
  return "disarm";
}

struct Fixture {
  explicit Fixture(std::chrono::milliseconds probe_timeout = 50ms) {
    REQUIRE(mkdtemp(folder.data()) != nullptr);
    journal = HealJournal::open(path()).value();
    for (const char* name : {"n1", "n2", "control"}) {
      auto host = std::make_unique<FakeHost>(spec(name));
      host->answer = [this, fake = host.get()](const Command& command) {
        return answer(*fake, kind(command));
      };
      fakes.push_back(host.get());
      hosts.push_back(std::move(host));
    }
    cluster = std::make_unique<Cluster>(std::move(hosts));
    Battlefield field{.control_address = "10.0.0.1", .hosts = {}, .server = control, .run_id = "r"};
    field.terrain.servers = {{"n1", "db"}, {"n2", "db"}};
    field.hosts = {fakes[0], fakes[1]};
    engine = std::make_unique<FaultEngine>(
        *cluster, field, *journal,
        [this](Phase phase, const FaultEvent& event, const std::string& note) {
          last_event = event;
          records.push_back(std::string(phase_name(phase)) + " " + fault_function(event) +
                            (note.empty() ? "" : ": " + note));
        },
        EngineSettings{.probe_timeout = probe_timeout});
  }
  ~Fixture() { std::filesystem::remove_all(folder); }

  std::filesystem::path path() const { return std::filesystem::path(folder) / kJournalFile; }
  CommandOutput answer(const FakeHost& host, const std::string& what) {
    CommandOutput output;
    {
      const std::lock_guard lock(mutex);
      order.push_back(host.name() + " " + what);
    }
    if (what.starts_with("arm")) std::this_thread::sleep_for(to_arm);
    if (what.starts_with("arm")) pending_when_armed = read_journal(path()).value().pending.size();
    output.standard_output = "processes are as wanted";
    if (what == failing_until) failing.clear();
    if (host.name() == failing_host && what == failing) {
      output.exit_status = 7;
      output.standard_error = "broken";
    }
    return output;
  }
  std::vector<std::string> ran(std::size_t host) const {
    std::vector<std::string> kinds;
    for (const Command& command : fakes[host]->ran) kinds.push_back(kind(command));
    return kinds;
  }

  std::string folder = "/tmp/ordeal-engine-XXXXXX";
  std::unique_ptr<HealJournal> journal;
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<FakeHost*> fakes;
  std::unique_ptr<Cluster> cluster;
  std::unique_ptr<FaultEngine> engine;
  std::vector<std::string> records;
  FaultEvent last_event;
  std::mutex mutex;
  std::vector<std::string> order;  // what ran where; of use where one host acts at a time
  std::chrono::milliseconds to_arm{0};
  std::string failing_host;
  std::string failing;
  std::string failing_until;  // a step that ends the failing
  std::atomic<std::size_t> pending_when_armed{0};
};

using Texts = std::vector<std::string>;
const Fault kPauseBoth{"pause", {"n1", "n2"}};

TEST_CASE("journal, watchdog, fault, its effect; then undo, its effect, disarm, journal") {
  Fixture fixture;
  const FaultId id = fixture.engine->inject(kPauseBoth, 1s, {}).value();
  CHECK(fixture.pending_when_armed == 1);
  CHECK(fixture.ran(0) == Texts{"arm+pause", "seen"});
  CHECK(fixture.last_event.share == "all");
  CHECK(fixture.last_event.effect == "n1: processes are as wanted; n2: processes are as wanted");
  REQUIRE(fixture.engine->active().size() == 1);
  CHECK(fixture.engine->active()[0].event.fault == "pause");
  REQUIRE(fixture.engine->heal(id));
  CHECK(fixture.ran(0) == Texts{"arm+pause", "seen", "resume", "seen", "disarm"});
  CHECK(fixture.ran(1) == fixture.ran(0));
  CHECK(fixture.engine->active().empty());
  CHECK(read_journal(fixture.path()).value().pending.empty());
  CHECK(fixture.records ==
        Texts{"invoke start-pause", "info start-pause", "invoke stop-pause", "info stop-pause"});
  const FaultCounts counts = fixture.engine->happened().at("pause");
  CHECK((counts.injected == 1 && counts.healed == 1 && counts.failed == 0));
}

TEST_CASE("what the control node does comes first, under a watchdog of its own") {
  Fixture fixture;
  const FaultId id = fixture.engine->inject({"power-cut", {"n1"}}, 1s, {}).value();
  CHECK(fixture.order == Texts{"control arm+power off", "control seen"});
  fixture.order.clear();
  REQUIRE(fixture.engine->heal(id));
  REQUIRE(fixture.order.size() == 6);
  CHECK(fixture.order[0] == "control power on");
  CHECK(fixture.order[1] == "n1 start");
  CHECK(fixture.ran(2) == Texts{"arm+power off", "seen", "power on", "seen", "disarm"});
  CHECK(fixture.ran(0) == Texts{"start", "seen", "disarm"});
  CHECK(fixture.ran(1).empty());
}

TEST_CASE("a host that does not get its power back stays struck") {
  Fixture fixture;
  const FaultId id = fixture.engine->inject({"power-cut", {"n1"}}, 1s, {}).value();
  fixture.failing_host = "control";
  fixture.failing = "power on";
  REQUIRE_FALSE(fixture.engine->heal(id));
  CHECK(fixture.ran(0).empty());  // there is nobody there yet
  CHECK(read_journal(fixture.path()).value().pending.size() == 1);
}

TEST_CASE("a fault that cannot be planned is told in the record, and does nothing") {
  Fixture fixture;
  REQUIRE_FALSE(fixture.engine->inject({"pause", {"n7"}}, 1s, {}));
  CHECK(fixture.records ==
        Texts{"invoke start-pause",
              "info start-pause: failed: fault pause names host n7, which is not in this run"});
  CHECK(fixture.engine->happened().at("pause").failed == 1);
  CHECK(fixture.ran(0).empty());
}

TEST_CASE("a fault without effect is undone, told, and does not count") {
  Fixture fixture;
  fixture.failing_host = "n2";
  fixture.failing = "seen";
  const auto injected = fixture.engine->inject(kPauseBoth, 1s, {});
  REQUIRE_FALSE(injected);
  CHECK(injected.error().message == "it has no effect: n2: processes are as wanted");
  CHECK(fixture.engine->happened().at("pause").injected == 0);
  CHECK(fixture.records.back().starts_with("info start-pause: failed: it has no effect"));
  CHECK(fixture.engine->active().size() == 1);  // since nothing shows that it is gone
  fixture.failing.clear();
  REQUIRE(fixture.engine->heal_all({.attempts = 1, .backoff = 1ms}));
  CHECK(read_journal(fixture.path()).value().pending.empty());
}

TEST_CASE("a way back that another fault hides is looked at again in the end") {
  Fixture fixture;
  const FaultId pause = fixture.engine->inject(kPauseBoth, 1s, {}).value();
  const FaultId kill = fixture.engine->inject({"kill", {"n1"}}, 1s, {}).value();
  fixture.failing_host = "n1";
  fixture.failing = "seen";
  REQUIRE(fixture.engine->heal(pause));
  CHECK(fixture.last_event.effect.starts_with("undone, but hidden by another fault: n1: "));
  fixture.failing.clear();
  REQUIRE(fixture.engine->heal(kill));
  fixture.failing = "seen";
  const Status all = fixture.engine->heal_all({.attempts = 1, .backoff = 1ms});
  REQUIRE_FALSE(all);
  CHECK(all.error().message.find("pause was undone, but not healed") != std::string::npos);
  fixture.failing.clear();
  REQUIRE(fixture.engine->heal_all({.attempts = 1, .backoff = 1ms}));
}

TEST_CASE("healing twice, and healing nothing, succeed without a record") {
  Fixture fixture;
  const FaultId id = fixture.engine->inject(kPauseBoth, 1s, {}).value();
  REQUIRE(fixture.engine->heal(id));
  REQUIRE(fixture.engine->heal(id));
  REQUIRE(fixture.engine->heal_all());
  CHECK(fixture.records.size() == 4);
}

TEST_CASE("an injection that fails on one host is undone on both at once") {
  Fixture fixture;
  fixture.failing_host = "n2";
  fixture.failing = "arm+pause";
  const auto injected = fixture.engine->inject(kPauseBoth, 1s, {});
  REQUIRE_FALSE(injected);
  const std::string why =
      "on host n2, injecting pause ended with exit status 7; it said: broken";  // no script
  CHECK(injected.error().message == why);
  CHECK(fixture.ran(0) == Texts{"arm+pause", "resume", "seen", "disarm"});
  CHECK(fixture.engine->active().empty());
  CHECK(read_journal(fixture.path()).value().pending.empty());
  CHECK(fixture.engine->happened().at("pause").injected == 0);
  CHECK(fixture.engine->happened().at("pause").failed == 1);
  REQUIRE(fixture.records.size() == 2);
  CHECK(fixture.records[1] == "info start-pause: failed: " + why + "; undone");
}

TEST_CASE("the time in which an effect must be seen begins with the injection") {
  Fixture fixture(5s);
  fixture.to_arm = 300ms;
  fixture.failing_host = "n1";
  fixture.failing = "seen";
  fixture.failing_until = "resume";
  REQUIRE_FALSE(fixture.engine->inject({"pause", {"n1"}}, 1s, {}, 250ms));
  CHECK(fixture.ran(0) == Texts{"arm+pause", "seen", "resume", "seen", "disarm"});
}

TEST_CASE("a probe is ended at the cutoff") {
  const Cluster nobody;
  const auto begin = std::chrono::steady_clock::now();
  CHECK_FALSE(probe({{std::string(kControlNode), {command({"sleep", "8"})}}}, nobody, 9s, {},
                    begin + 200ms));
  CHECK(std::chrono::steady_clock::now() - begin < 4s);
}

TEST_CASE("a healing that fails leaves the fault active, journaled and watched; heal_all retries") {
  Fixture fixture;
  const FaultId id = fixture.engine->inject(kPauseBoth, 1s, {}).value();
  fixture.failing_host = "n1";
  fixture.failing = "resume";
  REQUIRE_FALSE(fixture.engine->heal(id));
  CHECK(fixture.ran(0) == Texts{"arm+pause", "seen", "resume"});
  CHECK(fixture.records.back() ==
        "info stop-pause: failed: on host n1, undoing pause ended with exit status 7; it said: "
        "broken");
  CHECK(fixture.engine->active().size() == 1);
  CHECK(read_journal(fixture.path()).value().pending.size() == 1);

  const Status all = fixture.engine->heal_all({.attempts = 3, .backoff = 1ms});
  REQUIRE_FALSE(all);
  CHECK(all.error().message.find("n1") != std::string::npos);
  CHECK(all.error().message.find("ordeal heal") != std::string::npos);
  CHECK(fixture.ran(0).size() == 2 + 4);  // injected and seen, then one undo each time

  fixture.failing.clear();
  REQUIRE(fixture.engine->heal_all({.attempts = 3, .backoff = 1ms}));
  CHECK(fixture.engine->active().empty());
  CHECK(read_journal(fixture.path()).value().pending.empty());
}

TEST_CASE("an injection and an undo that both fail leave the fault to heal_all") {
  Fixture fixture;
  std::atomic<bool> away = false;
  fixture.fakes[1]->unreachable = [&] { return away.load(); };
  away = true;
  REQUIRE_FALSE(fixture.engine->inject(kPauseBoth, 1s, {}));
  CHECK(fixture.engine->active().size() == 1);
  CHECK(fixture.records.back().find("undo failed: ") != std::string::npos);
  away = false;
  REQUIRE(fixture.engine->heal_all({.attempts = 1, .backoff = 1ms}));
}

TEST_CASE("without a journal nothing is injected") {
  Fixture fixture;
  std::filesystem::create_symlink("/dev/full", fixture.folder + "/full");
  auto full = HealJournal::open(fixture.folder + "/full");
  REQUIRE(full);
  FaultEngine engine(*fixture.cluster,
                     {.control_address = "",
                      .hosts = {fixture.fakes[0], fixture.fakes[1]},
                      .server = control,
                      .run_id = "r"},
                     **full, [](Phase, const FaultEvent&, const std::string&) {});
  REQUIRE_FALSE(engine.inject(kPauseBoth, 1s, {}));
  CHECK(fixture.ran(0) == Texts{"resume", "seen", "disarm"});
}

TEST_CASE("after a stop request nothing is injected, but all is healed") {
  Fixture fixture;
  const FaultId id = fixture.engine->inject(kPauseBoth, 1s, {}).value();
  std::stop_source stop;
  stop.request_stop();
  const auto refused = fixture.engine->inject(kPauseBoth, 1s, stop.get_token());
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::stopped);
  CHECK(fixture.records.size() == 2);
  REQUIRE(fixture.engine->heal(id));
}

TEST_CASE("replay undoes what is pending, newest first, and reports each") {
  Fixture fixture;
  REQUIRE(fixture.engine->inject({"pause", {"n1"}}, 1s, {}));
  REQUIRE(fixture.engine->inject({"kill", {"n1", "n2"}}, 1s, {}));
  fixture.failing_host = "n2";
  fixture.failing = "start";
  const auto first = replay(fixture.path(), *fixture.cluster).value();
  REQUIRE(first.size() == 2);
  CHECK(first[0].undo.fault == "kill");
  REQUIRE_FALSE(first[0].outcome);
  CHECK(first[0].outcome.error().message.find("n2") != std::string::npos);
  CHECK(first[1].outcome);
  CHECK(fixture.ran(0) ==
        Texts{"arm+pause", "seen", "arm+kill-server", "seen", "start", "resume", "seen", "disarm"});

  fixture.failing.clear();
  CHECK(replay(fixture.path(), *fixture.cluster).value().size() == 1);
  CHECK(replay(fixture.path(), *fixture.cluster).value().empty());
}

TEST_CASE("replay does what can be done without a host that cannot be reached, and says so") {
  Fixture fixture;
  const auto before = std::chrono::system_clock::now();
  REQUIRE(fixture.engine->inject(kPauseBoth, 1s, {}));
  REQUIRE(fixture.engine->inject({"kill", {"n2"}}, 1s, {}));
  std::atomic<bool> away = true;
  fixture.fakes[0]->unreachable = [&] { return away.load(); };
  const auto replayed = replay(fixture.path(), *fixture.cluster).value();
  REQUIRE(replayed.size() == 2);
  CHECK(replayed[0].outcome);  // of the kill
  CHECK(replayed[0].unreachable.empty());
  REQUIRE_FALSE(replayed[1].outcome);
  CHECK(replayed[1].outcome.error().message.starts_with(
      "fault pause may still be there on host n1, which cannot be reached: "));
  CHECK(replayed[1].unreachable.count("n1") == 1);
  CHECK(replayed[1].undo.watchdog_at >= before + 31s);
  CHECK(replayed[1].undo.watchdog_at <= std::chrono::system_clock::now() + 33s);
  CHECK(fixture.ran(1) == Texts{"arm+pause", "seen", "arm+kill-server", "seen", "start", "seen",
                                "disarm", "resume", "seen", "disarm"});
  REQUIRE(read_journal(fixture.path()).value().pending.size() == 1);
  away = false;
  CHECK(replay(fixture.path(), *fixture.cluster).value().at(0).outcome);
}

TEST_CASE("replay looks again at what another fault hid, once that is undone") {
  Fixture fixture;
  REQUIRE(fixture.engine->inject({"kill", {"n1"}}, 1s, {}));
  REQUIRE(fixture.engine->inject({"pause", {"n1"}}, 1s, {}));
  fixture.failing_host = "n1";
  fixture.failing = "seen";
  fixture.failing_until = "start";
  const auto replayed = replay(fixture.path(), *fixture.cluster, {}, 50ms).value();
  REQUIRE(replayed.size() == 2);
  CHECK(replayed[0].undo.fault == "pause");
  CHECK(replayed[0].outcome);
  CHECK(replayed[1].outcome);
  CHECK(read_journal(fixture.path()).value().pending.empty());
}

TEST_CASE("replay names a host that is not among those given") {
  Fixture fixture;
  REQUIRE(fixture.engine->inject({"pause", {"n1"}}, 1s, {}));
  const Cluster empty;
  const auto replayed = replay(fixture.path(), empty).value();
  REQUIRE_FALSE(replayed.at(0).outcome);
  CHECK(replayed[0].outcome.error().message ==
        "fault pause is to be undone on host n1, which is not among the hosts given");
  CHECK(read_journal(fixture.path()).value().pending.size() == 1);
}

}  // namespace
}  // namespace ordeal
