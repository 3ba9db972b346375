// The helper is never run here with the right to set the clock: only without it, or dry.
#include "nemesis/host_clock.h"

#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

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

TEST_CASE("the clock helper moves the clock to and fro, or fast and slow, and then puts it right") {
  const Helper helper;
  std::ofstream(helper.state()) << "1000000000000000\n";
  // By how many seconds the times that it would set are ahead of the true time, roughly.
  const auto dry = [&](std::vector<std::string> arguments) {
    const double truth = now_ns(CLOCK_MONOTONIC) + 1e15;
    arguments.insert(arguments.end(), {"mark", "--dry-run"});
    const CommandOutput output = helper.run(std::move(arguments));
    CHECK(output.exit_status == 0);
    std::istringstream lines(output.standard_output);
    std::vector<double> ahead;
    for (double time = 0; lines >> time;) ahead.push_back((time - truth) / kSecond_ns);
    return ahead;
  };
  const auto strobe = dry({"strobe", helper.state(), "+3600", "200", "0.7"});
  REQUIRE(strobe.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i, strobe[i]);
    CHECK(std::abs(strobe[i] - (i == 0 || i == 2 ? 3600 : 0)) < 10);
  }
  const auto drift = dry({"drift", helper.state(), "1000", "0.5"});
  REQUIRE(drift.size() > 10);
  CHECK(std::abs(drift.front()) < 10);
  const double last = drift[drift.size() - 2];
  CHECK(last > 400);
  CHECK(last < 510);
  CHECK(std::abs(drift.back()) < 10);
}

TEST_CASE("the clock helper refuses to keep moving a clock that it may not set") {
  const Helper helper;
  CHECK(helper.run({"strobe", helper.state(), "+5", "100", "1", "mark"}).exit_status == 3);
  CHECK(helper.run({"drift", helper.state(), "1.2", "1", "mark"}).exit_status == 3);
  CHECK_FALSE(std::filesystem::exists(helper.state()));
  CHECK(helper.run({"strobe", helper.state(), "+5", "0", "1", "mark"}).exit_status == 2);
  CHECK(helper.run({"drift", helper.state(), "fast", "1", "mark"}).exit_status == 2);
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

TEST_CASE("what goes on moving a clock is ended before any clock is put right") {
  if (geteuid() != 0) return;
  const Helper helper;
  const Command start =
      script("setsid sh -c 'sleep 30; :' ordeal-host-clock:r1-n1 >/dev/null 2>&1 &", {});
  const Command count =
      script("grep -lsz '^ordeal-host-clock:r1-n1$' /proc/[0-9]*/cmdline | wc -l", {});
  const auto comes_to = [&](const std::string& wanted) {  // it takes a moment to begin, and to end
    std::string seen;
    for (int tries = 0; tries < 200 && seen != wanted; ++tries) {
      if (tries > 0) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      seen = run_checked(*helper.host, count)->standard_output;
    }
    return seen == wanted;
  };
  REQUIRE(run_checked(*helper.host, start));
  REQUIRE(comes_to("1\n"));
  CHECK(helper.restore_now("").exit_status == 0);
  CHECK(comes_to("0\n"));
}

struct Field {
  FakeHost host{spec()};
  Battlefield battlefield{.control_address = "10.0.0.1",
                          .hosts = {&host},
                          .server =
                              [](const Host&) {
                                ServerControl control;
                                control.directory = "/var/lib/ordeal/db";
                                return control;
                              },
                          .run_id = "r1",
                          .terrain = {}};
  static HostSpec spec() {
    HostSpec result;
    result.name = "n1";
    return result;
  }
  Result<FaultPlan> plan(const FaultEntry& entry,
                         std::map<std::string, std::string> parameters) const {
    CHECK(entry.need == FaultNeed::own_clock);
    return entry.plan({std::string(entry.name), {"n1"}, {}, std::move(parameters)}, battlefield);
  }
};

using Words = std::vector<std::string>;

Words arguments(const std::vector<HostCommands>& commands) {
  const auto& all = commands.at(0).commands.at(0).arguments;
  return Words(all.begin() + 4, all.end());
}

const std::string kProgram = "/var/lib/ordeal/db/ordeal-clock-r1";
const std::string kState = "/run/ordeal-clock-r1";

TEST_CASE("a host's clock is moved by the helper, and put right by what it noted before") {
  const Field field;
  const FaultPlan plan = field.plan(host_clock_skew_fault(), {{"offset", "+37.500"}}).value();
  CHECK(plan.detail == "clock of n1 moved by +37.500 s");
  CHECK(arguments(plan.inject) == Words{kProgram, kState, "+37.500"});
  CHECK(arguments(plan.undo) == Words{kProgram, kState});
  // The undo goes into the journal, and into the arguments of the watchdog.
  CHECK(plan.undo[0].commands[0].standard_input.empty());
  CHECK(plan.inject[0].commands[0].standard_input.size() < 100'000);
}

TEST_CASE("a host's clock strobes and drifts by a process that is ended before it is put right") {
  const Field field;
  const FaultPlan strobe =
      field.plan(host_clock_strobe_fault(), {{"offset", "-5.000"}, {"period", "50"}}).value();
  CHECK(strobe.detail == "clock of n1 moved by -5.000 s, and back, every 50 ms");
  CHECK(arguments(strobe.inject) ==
        Words{kProgram, kState, "r1-n1", "strobe", "-5.000", "50", "3600"});
  const FaultPlan drift = field.plan(host_clock_drift_fault(), {{"rate", "0.850"}}).value();
  CHECK(drift.detail == "clock of n1 runs at 0.850 times its speed");
  CHECK(arguments(drift.inject) == Words{kProgram, kState, "r1-n1", "drift", "0.850", "3600"});
  for (const FaultPlan* plan : {&strobe, &drift}) {
    const std::string undo = plan->undo.at(0).commands.at(0).arguments.at(2);
    const auto end = undo.find("sh ordeal-host-clock r1-n1; }");
    const auto restore = undo.find("sh " + kProgram + " " + kState + "; }");
    CHECK(end < restore);
    CHECK(restore != std::string::npos);
    CHECK(plan->undo[0].commands[0].standard_input.empty());
    // No shell bears the mark by which the process is found.
    for (const auto* commands : {&plan->inject, &plan->undo, &plan->effect, &plan->healed}) {
      for (const Command& command : commands->at(0).commands) {
        for (const std::string& argument : command.arguments) {
          CHECK(argument != "ordeal-host-clock:r1-n1");
        }
      }
    }
  }
}

}  // namespace
}  // namespace ordeal
