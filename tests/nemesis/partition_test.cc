#include "nemesis/partition.h"

#include <catch2/catch.hpp>

#include "nemesis/packet_filter.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  World world;
  const FaultEntry entry = partition_fault();

  FaultPlan plan(const std::string& direction) const {
    Fault fault = world.draw(entry);
    fault.parameters["direction"] = direction;
    return entry.plan(fault, world.battlefield()).value();
  }
  void run(const std::vector<HostCommands>& commands) {
    for (const Command& command : commands.at(0).commands) {
      REQUIRE(run_checked(world.host(), command));
    }
  }
};

TEST_CASE("a partition cuts the database's port in each direction, and no other") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const std::string before = fixture.world.firewall();
  for (const char* direction : {"both", "upstream", "downstream"}) {
    CAPTURE(direction);
    const FaultPlan plan = fixture.plan(direction);
    fixture.run(plan.inject);
    CHECK_FALSE(fixture.world.ask());
    CHECK(fixture.world.ask(fixture.world.other_port()));
    fixture.run(plan.undo);
    CHECK(fixture.world.becomes_healthy(2s));
    CHECK(fixture.world.firewall() == before);
  }
}

TEST_CASE("undoing a partition reports a packet filter that cannot be used") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  Command undo = fixture.plan("both").undo.at(0).commands.at(0);
  undo.arguments.at(4) = "iptables-that-is-not-there";
  CHECK_FALSE(run_checked(fixture.world.host(), undo));
}

// Bytes of a connection that was there before keep going the way that is not cut.
TEST_CASE("a one-way partition stops bytes one way but not the other") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  for (const char* direction : {"upstream", "downstream"}) {
    CAPTURE(direction);
    const FaultPlan plan = fixture.plan(direction);
    fixture.run(plan.inject);
    const auto [up, down] = fixture.world.packets_dropped_of_one_request();
    CHECK((up > 0) == (direction == std::string("upstream")));
    CHECK((down > 0) == (direction == std::string("downstream")));
    fixture.run(plan.undo);
  }
}

TEST_CASE("undoing a partition leaves the rules of another run, even of a similar name") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  Battlefield other = fixture.world.battlefield();
  other.run_id += "5";
  const FaultPlan others = fixture.entry.plan(fixture.world.draw(fixture.entry), other).value();
  fixture.run(others.inject);
  const std::string before = fixture.world.firewall();
  const FaultPlan own = fixture.plan("both");
  fixture.run(own.inject);
  fixture.run(own.undo);
  CHECK(fixture.world.firewall() == before);
  CHECK_FALSE(fixture.world.ask());
}

TEST_CASE("the chain's name fits iptables and keeps the end of the run's id") {
  CHECK(filter_chain("P", "k3f9") == "ORDEAL-P-k3f9");
  const std::string chain = filter_chain("P", "quickstart-20240101t000000-12345678");
  CHECK(chain.size() == 28);
  CHECK(chain.ends_with("-12345678"));
}

}  // namespace
}  // namespace ordeal
