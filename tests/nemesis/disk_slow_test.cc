#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "nemesis/disk.h"
#include "nemesis/plan.h"
#include "nemesis/probe.h"
#include "remote/fake_host.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  World world;
  const FaultEntry entry = disk_slow_fault();

  FaultPlan plan(const std::string& delay) const {
    const Fault fault{std::string(entry.name), {"n1"}, {}, {{"calls", "sync"}, {"delay", delay}}};
    return entry.plan(fault, world.battlefield()).value();
  }
  Status run(const std::vector<HostCommands>& commands) {
    return run_checked(world.host(), commands.at(0).commands.at(0)).map([](const auto&) {});
  }
  Result<std::string> seen(const std::vector<HostCommands>& probes) {
    return probe(probes, world.cluster(), 500ms, {});
  }
  std::string output(const std::string& line) {
    return run_checked(world.host(), script(line, {})).value().standard_output;
  }
  // The fastest of ten: what a busy machine delays once, it does not delay always.
  double seconds_of_request() {
    double least = 1e9;
    for (int i = 0; i < 10; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      CHECK(world.ask());
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      least = std::min(least, took.count());
    }
    return least;
  }
  int server() {
    return std::stoi(output(shell_line(world.battlefield().server(world.host()).processes)));
  }
  int tracer() {
    return std::stoi(output("sed -n 's/^TracerPid:[[:space:]]*//p' /proc/" +
                            std::to_string(server()) + "/status"));
  }
};

TEST_CASE("a slow disk delays what clients wait for, and does no longer once it is undone") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const FaultPlan plan = fixture.plan("300");
  CHECK(fixture.seconds_of_request() < 0.25);
  REQUIRE(fixture.run(plan.inject));
  CHECK(fixture.tracer() != 0);
  CHECK(fixture.seconds_of_request() > 0.28);
  const auto seen = fixture.seen(plan.effect);
  REQUIRE(seen);
  CHECK(seen->find("calls of the server took 3") != std::string::npos);
  CHECK(seen->find("; a commit took ") != std::string::npos);
  CHECK_FALSE(fixture.seen(plan.healed));
  const int server = fixture.server();
  REQUIRE(fixture.run(plan.undo));
  CHECK(fixture.seconds_of_request() < 0.25);
  CHECK(fixture.tracer() == 0);
  CHECK(fixture.server() == server);
  CHECK(fixture.seen(plan.healed));
  CHECK(fixture.output("ls " + fixture.world.server_directory().string()).find("ordeal-slow") ==
        std::string::npos);
}

TEST_CASE("calls that were delayed by less are no effect") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const FaultPlan plan = fixture.plan("100");
  REQUIRE(fixture.run(plan.inject));
  CHECK(fixture.seen(plan.effect));
  CHECK_FALSE(fixture.seen(fixture.plan("200").effect));
  REQUIRE(fixture.run(plan.undo));
}

TEST_CASE("a server goes on at its own pace when what slows it down is killed") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const FaultPlan plan = fixture.plan("300");
  REQUIRE(fixture.run(plan.inject));
  const int tracer = fixture.tracer();
  REQUIRE(tracer > 1);
  std::thread in_the_middle_of_a_call([&] { (void)fixture.world.ask(); });
  std::this_thread::sleep_for(150ms);
  REQUIRE(kill(tracer, SIGKILL) == 0);
  in_the_middle_of_a_call.join();
  CHECK(fixture.seconds_of_request() < 0.25);
  REQUIRE(fixture.run(plan.undo));
  CHECK(fixture.seen(plan.healed));
  CHECK(fixture.world.healthy());
}

TEST_CASE("what makes no sense of a slow disk is refused") {
  HostSpec spec;
  spec.name = "n1";
  const FakeHost host(spec);
  ServerControl control;
  const auto refusal = [&](const std::string& calls, const std::string& delay) {
    const Battlefield field{.control_address = "10.0.0.1",
                            .hosts = {&host},
                            .server = [&](const Host&) { return control; },
                            .run_id = "r1",
                            .terrain = {}};
    const auto plan = disk_slow_fault().plan(
        {"disk-slow", {"n1"}, {}, {{"calls", calls}, {"delay", delay}}}, field);
    return plan ? "" : plan.error().message;
  };
  CHECK(refusal("sync", "0") == "fault disk-slow: delay=0: expected a number from 1 to 5000");
  CHECK(refusal("read", "10") == "fault disk-slow: calls=read: expected sync or write");
  CHECK(refusal("sync", "10") ==
        "fault disk-slow on host n1: it is not known which processes are the server's");
  control.processes = command({"pidof", "database"});
  CHECK(refusal("sync", "10").empty());
}

}  // namespace
}  // namespace ordeal
