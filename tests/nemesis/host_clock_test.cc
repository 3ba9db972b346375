// The helper is never run here with the right to set the clock: only without it, or dry.
#include "nemesis/host_clock.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "nemesis/plan.h"
#include "remote/fake_host.h"
#include "remote/local_host.h"

namespace ordeal {
namespace {

constexpr double kSecond_ns = 1e9;

double now_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * kSecond_ns + static_cast<double>(time.tv_nsec);
}

struct Helper {
  Helper() {
    std::string name = "/tmp/ordeal-clock-XXXXXX";
    REQUIRE(mkdtemp(name.data()) != nullptr);
    directory = name;
    HostSpec spec;
    spec.local = true;
    host = make_local_host(spec, {});
    Command unpack = script(R"(base64 -d > "$1" && chmod 700 "$1")", {program()});
    unpack.standard_input = clock_helper_base64();
    REQUIRE(run_checked(*host, unpack));
  }
  ~Helper() { std::filesystem::remove_all(directory); }

  // In a /run of its own, where `state` says by how much the true time is ahead.
  CommandOutput restore_now(const std::string& state) const {
    Command restore = restore_clock_now();
    const std::string in_own_run =
        "mount -t tmpfs none /run && { [ -z \"$0\" ] || echo \"$0\" > /run/ordeal-clock-r1; } && "
        "setpriv --bounding-set -sys_time \"$@\"; status=$?; ls /run; exit $status";
    const std::vector<std::string> before{"unshare", "-m", "sh", "-c", in_own_run, state};
    restore.arguments.insert(restore.arguments.begin(), before.begin(), before.end());
    return host->run(restore).value();
  }

  std::string program() const { return directory / "ordeal-clock"; }
  std::string state() const { return directory / "state"; }
  CommandOutput run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), program());
    if (geteuid() == 0) {
      const std::vector<std::string> without{"setpriv", "--bounding-set", "-sys_time"};
      arguments.insert(arguments.begin(), without.begin(), without.end());
    }
    return host->run(command(std::move(arguments))).value();
  }

  std::filesystem::path directory;
  std::unique_ptr<Host> host;
};

TEST_CASE("the clock helper refuses to set the clock without the right to, and leaves nothing") {
  const Helper helper;
  const double before = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC);
  const CommandOutput skew = helper.run({"skew", helper.state(), "+3600"});
  CHECK(skew.exit_status == 3);
  CHECK(skew.standard_error == "the clock is not set: this needs root with CAP_SYS_TIME\n");
  CHECK_FALSE(std::filesystem::exists(helper.state()));
  std::ofstream(helper.state()) << "1000\n";
  CHECK(helper.run({"restore", helper.state()}).exit_status == 3);
  CHECK(std::filesystem::exists(helper.state()));
  CHECK(std::abs(now_ns(CLOCK_REALTIME) - now_ns(CLOCK_MONOTONIC) - before) < kSecond_ns);
}

TEST_CASE("the clock helper computes from the monotonic clock, however often the clock was moved") {
  const Helper helper;
  const auto dry = [&](std::vector<std::string> arguments) {
    arguments.emplace_back("--dry-run");
    const CommandOutput output = helper.run(std::move(arguments));
    CHECK(output.exit_status == 0);
    return std::stod(output.standard_output);
  };
  // Not moved yet: from the present time.
  CHECK(std::abs(dry({"skew", helper.state(), "-90.5"}) - now_ns(CLOCK_REALTIME) +
                 90.5 * kSecond_ns) < kSecond_ns);
  CHECK_FALSE(std::filesystem::exists(helper.state()));
  // Moved before, when the true time was a million seconds ahead of the monotonic clock.
  std::ofstream(helper.state()) << "1000000000000000\n";
  const double truth = now_ns(CLOCK_MONOTONIC) + 1e15;
  CHECK(std::abs(dry({"skew", helper.state(), "+3600"}) - truth - 3600 * kSecond_ns) < kSecond_ns);
  CHECK(std::abs(dry({"restore", helper.state()}) - truth) < kSecond_ns);
  const double seen = std::stod(helper.run({"offset", helper.state()}).standard_output);
  CHECK(std::abs(seen * kSecond_ns - (now_ns(CLOCK_REALTIME) - truth)) < kSecond_ns);
}

TEST_CASE("the clock helper has nothing to restore where nothing was moved, and tells bad input") {
  const Helper helper;
  CHECK(helper.run({"restore", helper.state()}).exit_status == 0);
  CHECK(helper.run({"offset", helper.state()}).exit_status == 1);
  CHECK(helper.run({"skew", helper.state(), "much"}).exit_status == 2);
  CHECK(helper.run({"skew", helper.state()}).exit_status == 2);
  std::ofstream(helper.state()) << "nonsense\n";
  CHECK(helper.run({"restore", helper.state()}).exit_status == 1);
}

TEST_CASE("a clock that any run left moved is put right, or it is said why not") {
  if (geteuid() != 0) return;
  const Helper helper;
  const CommandOutput nothing = helper.restore_now("");
  CHECK(nothing.exit_status == 0);
  CHECK(nothing.standard_output.empty());
  const CommandOutput refused = helper.restore_now("1000");
  CHECK(refused.exit_status == 1);
  CHECK(refused.standard_error == "the clock is not set: this needs root with CAP_SYS_TIME\n");
  CHECK(refused.standard_output == "ordeal-clock-r1\n");
}

TEST_CASE("a host's clock is moved by the helper, and put right by what it noted before") {
  HostSpec spec;
  spec.name = "n1";
  FakeHost host(spec);
  const Battlefield field{.control_address = "10.0.0.1",
                          .hosts = {&host},
                          .server =
                              [](const Host&) {
                                ServerControl control;
                                control.directory = "/var/lib/ordeal/db";
                                return control;
                              },
                          .run_id = "r1",
                          .terrain = {}};
  const FaultEntry entry = host_clock_skew_fault();
  CHECK(entry.need == FaultNeed::own_clock);
  const FaultPlan plan =
      entry.plan({"host-clock-skew", {"n1"}, {}, {{"offset", "+37.500"}}}, field).value();
  CHECK(plan.detail == "clock of n1 moved by +37.500 s");
  const auto arguments = [](const std::vector<HostCommands>& commands) {
    const auto& all = commands.at(0).commands.at(0).arguments;
    return std::vector<std::string>(all.begin() + 4, all.end());
  };
  const std::string program = "/var/lib/ordeal/db/ordeal-clock-r1";
  CHECK(arguments(plan.inject) ==
        std::vector<std::string>{program, "/run/ordeal-clock-r1", "+37.500"});
  CHECK(arguments(plan.undo) == std::vector<std::string>{program, "/run/ordeal-clock-r1"});
  // The undo goes into the journal, and into the arguments of the watchdog.
  CHECK(plan.undo[0].commands[0].standard_input.empty());
  CHECK(plan.inject[0].commands[0].standard_input.size() < 100'000);
}

}  // namespace
}  // namespace ordeal
