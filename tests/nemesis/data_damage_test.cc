#include "nemesis/data_damage.h"

#include <bit>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>

#include "nemesis/probe.h"
#include "world.h"

namespace ordeal {
namespace {

struct Fixture {
  World world;

  Result<FaultPlan> plan(const FaultEntry& entry, std::map<std::string, std::string> parameters,
                         const Battlefield& field) const {
    return entry.plan({std::string(entry.name), {"n1"}, {}, std::move(parameters)}, field);
  }
  FaultPlan plan(const FaultEntry& entry, std::map<std::string, std::string> parameters) const {
    return plan(entry, std::move(parameters), world.battlefield()).value();
  }
  void run(const std::vector<HostCommands>& commands) {
    REQUIRE(run_checked(world.host(), commands.at(0).commands.at(0)));
  }
  std::string sees(const std::vector<HostCommands>& probes) {
    const auto seen = probe(probes, world.cluster(), std::chrono::milliseconds(500), {});
    return seen ? *seen : "not: " + seen.error().message;
  }
  std::string table() const {
    std::ifstream file(world.server_directory() / "table", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

int bits_between(const std::string& a, const std::string& b) {
  int count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    count += std::popcount(static_cast<unsigned char>(a[i] ^ b[i]));
  }
  return count;
}

TEST_CASE("exactly the drawn bits are flipped while the server is down, and stay so") {
  Fixture fixture;
  const std::string before = fixture.table();
  const std::string table = fixture.world.server_directory() / "table";
  // The table has 524,288 bits.
  const FaultPlan plan =
      fixture.plan(dangerous_flip_bits_fault(), {{"file", "7"}, {"bits", "3,524288,8003"}});
  CHECK(fixture.sees(plan.effect) == "not: n1: no bit was flipped");
  fixture.run(plan.inject);
  CHECK(fixture.sees(plan.effect) ==
        "n1: bits are flipped in these bytes of " + table + ": 0 1000");
  CHECK_FALSE(fixture.world.healthy());
  const std::string after = fixture.table();
  CHECK(after.size() == before.size());
  CHECK(bits_between(before, after) == 3);
  CHECK((before[0] ^ after[0]) == 0b1001);
  CHECK((before[1000] ^ after[1000]) == 0b1000);
  fixture.run(plan.undo);
  CHECK(fixture.world.becomes_healthy());
  CHECK(fixture.table() == after);
}

TEST_CASE("a file is cut to the drawn share") {
  Fixture fixture;
  const std::string before = fixture.table();
  const FaultPlan plan =
      fixture.plan(dangerous_truncate_fault(), {{"file", "0"}, {"keep", "0.250"}});
  fixture.run(plan.inject);
  CHECK(fixture.sees(plan.effect) ==
        "n1: " + (fixture.world.server_directory() / "table").string() +
            " has 16384 of its 65536 bytes");
  CHECK(fixture.table() == before.substr(0, 16384));
  fixture.run(plan.undo);
  CHECK(fixture.world.becomes_healthy());
}

TEST_CASE("data is not damaged where it is not known, or not there") {
  Fixture fixture;
  Battlefield field = fixture.world.battlefield();
  const auto server = field.server;
  field.server = [&](const Host& host) {
    ServerControl control = server(host);
    control.data_file = "";
    return control;
  };
  const auto refused =
      fixture.plan(dangerous_truncate_fault(), {{"file", "0"}, {"keep", "0.5"}}, field);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message ==
        "fault dangerous-truncate on host n1: it is not known which of the server's files hold "
        "data");
  std::filesystem::remove(fixture.world.server_directory() / "table");
  const FaultPlan plan = fixture.plan(dangerous_truncate_fault(), {{"file", "0"}, {"keep", "0.5"}});
  CHECK_FALSE(run_checked(fixture.world.host(), plan.inject.at(0).commands.at(0)));
}

TEST_CASE("bits that a written schedule gives must be numbers") {
  const Fixture fixture;
  for (const char* bits : {"", "1,,2", "1;rm", "x"}) {
    CHECK_FALSE(fixture.plan(dangerous_flip_bits_fault(), {{"file", "0"}, {"bits", bits}},
                             fixture.world.battlefield()));
  }
}

}  // namespace
}  // namespace ordeal
