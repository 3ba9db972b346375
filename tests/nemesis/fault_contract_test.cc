// What every fault of the catalogue must do, tested on a real server: break something that a client
// sees, and be undone completely from any state.
#include <catch2/catch.hpp>

#include "nemesis/nemesis.h"
#include "nemesis/probe.h"
#include "world.h"

namespace ordeal {
namespace {

bool strikes_one_host(const World& world, const FaultEntry& entry) {
  const Fault fault = world.draw(entry);
  return !fault.hosts.empty() || !fault.legs.empty();
}

bool seen(const std::vector<HostCommands>& probes, World& world) {
  const auto result = probe(probes, world.cluster(), std::chrono::milliseconds(500), {});
  INFO((result ? *result : result.error().message));
  CHECK(!probes.empty());
  return result.has_value();
}

void run_all(Host& host, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    const auto done = run_checked(host, command);
    INFO((done ? "" : done.error().message));
    REQUIRE(done);
  }
}

TEST_CASE(
    "every fault is seen by clients and its probe, and is undone by its plan from any state") {
  World world;
  const std::string firewall = world.firewall();
  for (const FaultEntry& entry : fault_catalog()) {
    if (!world.can(entry) || !strikes_one_host(world, entry)) continue;
    CAPTURE(entry.name);
    const FaultPlan plan = world.plan(entry);
    REQUIRE(plan.inject.size() == 1);
    REQUIRE(plan.undo.size() == 1);
    const auto& inject = plan.inject[0].commands;
    const auto& undo = plan.undo[0].commands;
    const auto check_undone = [&] {
      CHECK(world.becomes_healthy());
      CHECK(world.firewall() == firewall);
      CHECK(seen(plan.healed, world));
      if (lasts(entry)) CHECK_FALSE(seen(plan.effect, world));
    };
    const auto check_injected = [&] {
      CHECK(seen(plan.effect, world));
      if (is_outage(entry)) CHECK_FALSE(world.healthy());
      if (lasts(entry)) CHECK_FALSE(seen(plan.healed, world));
    };

    // never injected
    run_all(world.host(), undo);
    check_undone();
    // injected by half: every prefix of the commands
    for (std::size_t done = 1; done < inject.size(); ++done) {
      CAPTURE(done);
      run_all(world.host(), {inject.begin(), inject.begin() + static_cast<std::ptrdiff_t>(done)});
      run_all(world.host(), undo);
      check_undone();
    }
    // injected, and healed twice; nothing of what came before hinders
    run_all(world.host(), inject);
    check_injected();
    run_all(world.host(), undo);
    run_all(world.host(), undo);
    check_undone();
  }
}

}  // namespace
}  // namespace ordeal
