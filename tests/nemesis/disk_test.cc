#include "nemesis/disk.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "nemesis/probe.h"
#include "world.h"

namespace ordeal {
namespace {

struct Fixture {
  World world;

  FaultPlan plan(const FaultEntry& entry, std::map<std::string, std::string> parameters) const {
    const Fault fault{std::string(entry.name), {"n1"}, {}, std::move(parameters)};
    return entry.plan(fault, world.battlefield()).value();
  }
  Status run(const std::vector<HostCommands>& commands) {
    return run_checked(world.host(), commands.at(0).commands.at(0)).map([](const auto&) {});
  }
  // Why the host cannot do this; "" where it can.
  std::string impossible(const std::vector<HostCommands>& possible) {
    const auto output = world.host().run(possible.at(0).commands.at(0));
    REQUIRE(output);
    REQUIRE((output->exit_status != 0) != output->standard_output.empty());
    return output->standard_output;
  }
  bool sees(const std::vector<HostCommands>& probes) {
    return probe(probes, world.cluster(), std::chrono::milliseconds(500), {}).has_value();
  }
  bool can_write(std::size_t bytes) {
    const auto path = world.server_directory() / "written";
    const bool written = (std::ofstream(path) << std::string(bytes, 'x') << std::flush).good();
    std::error_code readonly;
    std::filesystem::remove(path, readonly);
    return written;
  }
};

TEST_CASE("a full disk takes no more bytes, and does again") {
  Fixture fixture;
  if (!fixture.world.can(disk_full_fault())) return;
  const FaultPlan plan = fixture.plan(disk_full_fault(), {{"leave", "0"}, {"max-size", "16"}});
  CHECK(fixture.can_write(1'000'000));
  REQUIRE(fixture.run(plan.inject));
  CHECK_FALSE(fixture.can_write(10'000));
  REQUIRE(fixture.run(plan.undo));
  CHECK(fixture.can_write(1'000'000));
}

TEST_CASE("as much is left free as was asked for") {
  Fixture fixture;
  if (!fixture.world.can(disk_full_fault())) return;
  const FaultPlan plan = fixture.plan(disk_full_fault(), {{"leave", "2"}, {"max-size", "16"}});
  REQUIRE(fixture.run(plan.inject));
  CHECK(fixture.sees(plan.effect));
  CHECK(fixture.can_write(1'500'000));
  CHECK_FALSE(fixture.can_write(2'500'000));
  REQUIRE(fixture.run(plan.undo));
  CHECK_FALSE(fixture.sees(plan.effect));
}

TEST_CASE("what a server deletes from a full disk is filled again, but not once it is undone") {
  Fixture fixture;
  if (!fixture.world.can(disk_full_fault())) return;
  const FaultPlan plan = fixture.plan(disk_full_fault(), {{"leave", "0"}, {"max-size", "16"}});
  const auto deleted = fixture.world.server_directory() / "deleted";
  std::ofstream(deleted) << std::string(1'500'000, 'x');
  REQUIRE(fixture.run(plan.inject));
  REQUIRE(std::filesystem::remove(deleted));
  CHECK(fixture.can_write(1'000'000));
  CHECK(fixture.sees(plan.effect));
  CHECK_FALSE(fixture.can_write(10'000));
  REQUIRE(fixture.run(plan.undo));
  CHECK_FALSE(fixture.sees(plan.effect));
  CHECK(fixture.can_write(1'000'000));
  CHECK(fixture.sees(plan.healed));
}

TEST_CASE("a file system that is too large to be filled is left alone, and the message says so") {
  Fixture fixture;
  if (!fixture.world.can(disk_full_fault())) return;
  const FaultPlan plan = fixture.plan(disk_full_fault(), {{"leave", "0"}, {"max-size", "1"}});
  const Status refused = fixture.run(plan.inject);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("more than max-size (1 MiB): give the servers a file system "
                                     "of their own, or raise max-size") != std::string::npos);
  CHECK(fixture.can_write(1'000'000));
}

TEST_CASE("whether a disk can be filled is known before there is a server on it") {
  Fixture fixture;
  if (!fixture.world.can(disk_full_fault())) return;
  const auto ask = [&](const char* max_size, const std::filesystem::path& directory) {
    FaultPlan plan = fixture.plan(disk_full_fault(), {{"leave", "0"}, {"max-size", max_size}});
    plan.possible.at(0).commands.at(0).arguments.at(4) = directory;
    return fixture.impossible(plan.possible);
  };
  const auto directory = fixture.world.server_directory();
  CHECK(ask("16", directory) == "");
  CHECK(ask("16", directory / "not/yet") == "");
  CHECK(ask("1", directory / "not/yet").find("more than max-size (1 MiB)") != std::string::npos);
}

TEST_CASE("a read-only file system takes no files, and does again") {
  Fixture fixture;
  if (!fixture.world.can(disk_readonly_fault())) return;
  const FaultPlan plan = fixture.plan(disk_readonly_fault(), {});
  REQUIRE(fixture.run(plan.inject));
  CHECK_FALSE(fixture.can_write(1));
  REQUIRE(fixture.run(plan.undo));
  CHECK(fixture.can_write(1));
  CHECK(fixture.world.becomes_healthy());
}

TEST_CASE("a file system that holds more than the servers' files is not made read-only") {
  Fixture fixture;
  if (!fixture.world.can(disk_readonly_fault())) return;
  FaultPlan plan = fixture.plan(disk_readonly_fault(), {});
  const std::filesystem::path inner = fixture.world.server_directory() / "inner";
  std::filesystem::create_directory(inner);
  auto& arguments = plan.inject.at(0).commands.at(0).arguments;
  arguments.at(4) = inner;
  CHECK(fixture.impossible(plan.possible) == "");
  plan.possible.at(0).commands.at(0).arguments.at(4) = inner;
  CHECK(fixture.impossible(plan.possible).find("which holds more than the servers' files") !=
        std::string::npos);
  const Status refused = fixture.run(plan.inject);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("which holds more than the servers' files") !=
        std::string::npos);
  CHECK(fixture.can_write(1));
  CHECK(fixture.world.healthy());
}

}  // namespace
}  // namespace ordeal
