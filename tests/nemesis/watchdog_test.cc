#include "nemesis/watchdog.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "nemesis/plan.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  World world;
  const std::string id = world.battlefield().run_id + "-1-n1";
  const std::filesystem::path mark = world.directory() / "undone by 'watchdog'";

  CommandOutput run(const Command& command) { return world.host().run(command, 30s).value(); }
  Command touch() const { return command({"touch", mark.string()}); }
  bool undone() const { return std::filesystem::exists(mark); }
  bool undone_within(std::chrono::milliseconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!undone() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(20ms);
    return undone();
  }
};

TEST_CASE("a watchdog undoes after its deadline, and is gone") {
  Fixture fixture;
  Command with_input =
      command({"sh", "-c", "cat > \"$1\"", "sh", fixture.mark.string() + ".input"});
  with_input.standard_input = "it's 100% kept";
  const auto armed =
      fixture.run(arm_watchdog(fixture.id, 1s, {with_input, command({"true"}), fixture.touch()}));
  CHECK(armed.standard_error == "");
  REQUIRE(armed.exit_status == 0);
  CHECK(fixture.world.watchdog_left());
  CHECK_FALSE(fixture.undone());
  CHECK(fixture.undone_within(5s));
  std::ifstream input(fixture.mark.string() + ".input");
  CHECK(std::string(std::istreambuf_iterator<char>(input), {}) == "it's 100% kept");
  CHECK(fixture.run(disarm_watchdog(fixture.id)).exit_status == 0);
  CHECK_FALSE(fixture.world.watchdog_left());
}

TEST_CASE("a disarmed watchdog does nothing and leaves nothing") {
  Fixture fixture;
  REQUIRE(fixture.run(arm_watchdog(fixture.id, 1s, {fixture.touch()})).exit_status == 0);
  const auto disarmed = fixture.run(disarm_watchdog(fixture.id));
  CHECK(disarmed.standard_error == "");
  CHECK(disarmed.exit_status == 0);
  CHECK_FALSE(fixture.world.watchdog_left());
  CHECK_FALSE(fixture.undone_within(1500ms));
  CHECK(fixture.run(disarm_watchdog(fixture.id)).exit_status == 0);
}

TEST_CASE("disarming one watchdog leaves others alone, also those of a longer name") {
  Fixture fixture;
  REQUIRE(fixture.run(arm_watchdog(fixture.id + "2", 1s, {fixture.touch()})).exit_status == 0);
  CHECK(fixture.run(disarm_watchdog(fixture.id)).exit_status == 0);
  CHECK(fixture.world.watchdog_left());
  CHECK(fixture.undone_within(5s));
  CHECK(fixture.run(disarm_watchdog(fixture.id + "2")).exit_status == 0);
}

TEST_CASE("disarming waits for a watchdog at work, and what it started goes on") {
  Fixture fixture;
  const Command slow = command(
      {"sh", "-c", "touch \"$1.begun\"; sleep 1; touch \"$1\"", "sh", fixture.mark.string()});
  REQUIRE(fixture.run(arm_watchdog(fixture.id, 1ms, {slow})).exit_status == 0);
  while (!std::filesystem::exists(fixture.mark.string() + ".begun")) {
    std::this_thread::sleep_for(20ms);
  }
  CHECK(fixture.run(disarm_watchdog(fixture.id)).exit_status == 0);
  CHECK(fixture.undone());
  CHECK_FALSE(fixture.world.watchdog_left());
}

TEST_CASE("a watchdog whose undo fails tries again, and tries every command") {
  Fixture fixture;
  const Command second_time =
      command({"sh", "-c", "[ -e \"$1.tried\" ] && exit 0; touch \"$1.tried\"; exit 1", "sh",
               fixture.mark.string()});
  REQUIRE(fixture.run(arm_watchdog(fixture.id, 1ms, {second_time, fixture.touch()})).exit_status ==
          0);
  CHECK(fixture.undone_within(3s));
  std::filesystem::remove(fixture.mark);
  CHECK(fixture.undone_within(5s));
  CHECK(fixture.run(disarm_watchdog(fixture.id)).exit_status == 0);
}

}  // namespace
}  // namespace ordeal
