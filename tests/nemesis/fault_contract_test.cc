// What every fault of the catalogue must do, tested on a real server: break something that a client
// sees, and be undone completely from any state.
#include <catch2/catch.hpp>

#include "nemesis/nemesis.h"
#include "world.h"

namespace ordeal {
namespace {

void run_all(Host& host, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    const auto done = run_checked(host, command);
    INFO((done ? "" : done.error().message));
    REQUIRE(done);
  }
}

TEST_CASE("every fault is seen by clients, and is undone by its plan from any state") {
  World world;
  const std::string firewall = world.firewall();
  for (const FaultEntry& entry : fault_catalog()) {
    if (!world.can(entry)) continue;
    CAPTURE(entry.name);
    const FaultPlan plan = world.plan(entry);
    REQUIRE(plan.inject.size() == 1);
    REQUIRE(plan.undo.size() == 1);
    const auto& inject = plan.inject[0].commands;
    const auto& undo = plan.undo[0].commands;
    const auto check_undone = [&] {
      CHECK(world.becomes_healthy());
      CHECK(world.firewall() == firewall);
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
    // injected, and healed twice
    run_all(world.host(), inject);
    CHECK_FALSE(world.healthy());
    run_all(world.host(), undo);
    check_undone();
    run_all(world.host(), undo);
    check_undone();
    // once more, to see that nothing was left that hinders
    run_all(world.host(), inject);
    CHECK_FALSE(world.healthy());
    run_all(world.host(), undo);
    check_undone();
  }
}

}  // namespace
}  // namespace ordeal
