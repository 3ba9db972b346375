// The engine on a real server, and what heals it when the process that broke it is killed.
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdlib>

#include "nemesis/engine.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

bool breaks_one_host(const World& world, const FaultEntry& entry) {
  const Fault fault = world.draw(entry);
  return (!fault.hosts.empty() || !fault.legs.empty()) && lasts(entry);
}

void no_record(Phase, const FaultEvent&, const std::string&) {}

// Injects the fault in a child process, which is then killed by SIGKILL.
void inject_and_die(World& world, const Fault& fault, std::chrono::milliseconds duration,
                    const EngineSettings& settings) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto journal = HealJournal::open(world.journal());
    FaultEngine engine(world.cluster(), world.battlefield(), **journal, no_record, settings);
    if (!engine.inject(fault, duration, {})) _exit(1);
    raise(SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("the engine injects and heals every fault of the catalogue on a real server") {
  World world;
  const std::string firewall = world.firewall();
  const auto journal = HealJournal::open(world.journal()).value();
  FaultEngine engine(world.cluster(), world.battlefield(), *journal, no_record);
  for (const FaultEntry& entry : fault_catalog()) {
    if (!world.can(entry) || !breaks_one_host(world, entry)) continue;
    CAPTURE(entry.name);
    const auto id = engine.inject(world.draw(entry), 10s, {});
    REQUIRE(id);
    if (is_outage(entry)) CHECK_FALSE(world.healthy());
    CHECK(world.watchdog_left());
    REQUIRE(engine.heal(*id));
    CHECK(world.becomes_healthy());
    CHECK_FALSE(world.watchdog_left());
    CHECK(world.firewall() == firewall);
  }
  CHECK(read_journal(world.journal()).value().pending.empty());
}

TEST_CASE("watchdogs heal every fault after the control process was killed") {
  World world;
  const std::string firewall = world.firewall();
  for (const FaultEntry& entry : fault_catalog()) {
    if (!world.can(entry) || !breaks_one_host(world, entry)) continue;
    CAPTURE(entry.name);
    inject_and_die(world, world.draw(entry), 1s, {.watchdog_grace = time_to_see(entry)});
    CHECK(world.watchdog_left());
    if (is_outage(entry)) CHECK_FALSE(world.healthy());
    CHECK(world.watchdog_ends(20s));
    CHECK(world.becomes_healthy(10s));
    CHECK(world.firewall() == firewall);
  }
  // The journal still has them; replaying it does no harm, and clears it.
  const auto replayed = replay(world.journal(), world.cluster()).value();
  for (const Replayed& each : replayed) CHECK(each.outcome);
  CHECK(world.becomes_healthy());
  CHECK_FALSE(world.watchdog_left());
}

TEST_CASE("replaying the journal heals every fault after the control process was killed") {
  World world;
  const std::string firewall = world.firewall();
  std::size_t broken = 0;
  for (const FaultEntry& entry : fault_catalog()) {
    if (!world.can(entry) || !breaks_one_host(world, entry)) continue;
    CAPTURE(entry.name);
    inject_and_die(world, world.draw(entry), 60s, {});
    ++broken;
    if (is_outage(entry)) CHECK_FALSE(world.healthy());
    CHECK(world.watchdog_left());
    CHECK(read_journal(world.journal()).value().pending.size() == 1);
    const auto replayed = replay(world.journal(), world.cluster()).value();
    REQUIRE(replayed.size() == 1);
    CHECK(replayed[0].outcome);
    CHECK(world.becomes_healthy(3s));
    CHECK_FALSE(world.watchdog_left());
    CHECK(world.firewall() == firewall);
    CHECK(read_journal(world.journal()).value().pending.empty());
  }
  CHECK(broken >= 2);
}

}  // namespace
}  // namespace ordeal
