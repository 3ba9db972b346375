#include "nemesis/clock_skew.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "nemesis/plan.h"
#include "nemesis/probe.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a server takes an offset that was written without a sign") {
  World world;
  const FaultEntry entry = clock_skew_fault();
  if (!world.can(entry)) return;
  const Fault fault{std::string(entry.name), {"n1"}, {}, {{"offset", "5"}}};
  const FaultPlan plan = plan_fault(fault, world.battlefield()).value();
  REQUIRE(run_checked(world.host(), plan.inject.at(0).commands.at(0)));
  CHECK(probe(plan.effect, world.cluster(), 6s, {}));
  const auto ahead = world.ask();
  REQUIRE(ahead);
  CHECK(*ahead == Approx(5).margin(1));
  REQUIRE(run_checked(world.host(), plan.undo.at(0).commands.at(0)));
  CHECK(world.becomes_healthy());
}

}  // namespace
}  // namespace ordeal
