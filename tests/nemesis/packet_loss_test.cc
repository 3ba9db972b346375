#include "nemesis/packet_loss.h"

#include <catch2/catch.hpp>

#include "nemesis/probe.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  World world;
  const FaultEntry entry = packet_loss_fault();

  FaultPlan plan(const std::string& direction, const std::string& probability) const {
    Fault fault = world.draw(entry);
    fault.parameters = {{"direction", direction}, {"probability", probability}};
    return entry.plan(fault, world.battlefield()).value();
  }
  void run(const std::vector<HostCommands>& commands) {
    for (const Command& command : commands.at(0).commands) {
      REQUIRE(run_checked(world.host(), command));
    }
  }
};

TEST_CASE("a share of packets is lost each way, and the probes see how large it is") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  for (const char* direction : {"upstream", "downstream", "both"}) {
    CAPTURE(direction);
    const FaultPlan plan = fixture.plan(direction, "0.500");
    fixture.run(plan.inject);
    const auto seen = probe(plan.effect, fixture.world.cluster(), 1s, {});
    INFO((seen ? *seen : seen.error().message));
    CHECK(seen);
    CHECK_FALSE(probe(plan.healed, fixture.world.cluster(), 1s, {}));
    fixture.run(plan.undo);
    CHECK(probe(plan.healed, fixture.world.cluster(), 6s, {}));
  }
}

TEST_CASE("a loss that is not the one that was planned is no effect") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  fixture.run(fixture.plan("downstream", "0.100").inject);
  const FaultPlan other = fixture.plan("downstream", "0.800");
  CHECK_FALSE(probe(other.effect, fixture.world.cluster(), 500ms, {}));
  fixture.run(other.undo);
}

TEST_CASE("a probability that cannot be measured is refused") {
  const World world;
  const FaultEntry entry = packet_loss_fault();
  Fault fault = world.draw(entry);
  for (const char* probability : {"0", "1.5", "much", ""}) {
    fault.parameters["probability"] = probability;
    const auto plan = entry.plan(fault, world.battlefield());
    REQUIRE_FALSE(plan);
    CHECK(plan.error().message == std::string("fault packet-loss: probability=") + probability +
                                      ": expected a number from 0.02 to 0.98");
  }
}

TEST_CASE("the share that is drawn is at most what was asked for, and at least half of it") {
  const World world;
  const FaultEntry entry = packet_loss_fault();
  const Options options =
      Options::make(entry.name, entry.options, {{"max-loss", {"30", "test"}}}).value();
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    const Fault fault = entry.draw(options, world.terrain(), random);
    const double probability = std::stod(fault.parameters.at("probability"));
    CHECK(probability >= 0.15);
    CHECK(probability <= 0.30);
  }
}

}  // namespace
}  // namespace ordeal
