// Plans as pure functions: which commands, without running them.
#include "nemesis/plan.h"

#include <catch2/catch.hpp>
#include <set>

#include "nemesis/clock_skew.h"
#include "nemesis/host_choice.h"
#include "nemesis/partition.h"
#include "nemesis/process.h"
#include "remote/fake_host.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

struct Field {
  FakeHost n1{spec("n1")};
  FakeHost n2{spec("n2")};
  Battlefield battlefield{
      .control_address = "10.0.0.1", .hosts = {&n1, &n2}, .server = control, .run_id = "r1"};

  static HostSpec spec(const char* name) {
    HostSpec result;
    result.name = name;
    return result;
  }
  static ServerControl control(const Host& host) {
    ServerControl result;
    result.start = command({"start", host.name()});
    result.kill = command({"kill", host.name()});
    result.pause = command({"pause", host.name()});
    result.resume = command({"resume", host.name()});
    result.clock_offset = command({"clock", host.name()});
    result.port = 5432;
    return result;
  }
};

TEST_CASE("process faults send the server's own commands to each drawn host") {
  const Field field;
  const Fault both{"kill", {"n1", "n2"}, {}};
  const FaultPlan plan = kill_fault().plan(both, field.battlefield).value();
  CHECK(plan.detail == "SIGKILL to the database on n1, n2");
  CHECK(plan.inject == std::vector<HostCommands>{{"n1", {command({"kill", "n1"})}},
                                                 {"n2", {command({"kill", "n2"})}}});
  CHECK(plan.undo == std::vector<HostCommands>{{"n1", {command({"start", "n1"})}},
                                               {"n2", {command({"start", "n2"})}}});
  const FaultPlan pause = pause_fault().plan({"pause", {"n2"}, {}}, field.battlefield).value();
  CHECK(pause.inject == std::vector<HostCommands>{{"n2", {command({"pause", "n2"})}}});
  CHECK(pause.undo == std::vector<HostCommands>{{"n2", {command({"resume", "n2"})}}});
}

TEST_CASE("clock skew adds the offset to the server's command") {
  const Field field;
  const Fault fault{"clock-skew", {"n1"}, {{"offset", "-0.250"}}};
  const FaultPlan plan = clock_skew_fault().plan(fault, field.battlefield).value();
  CHECK(plan.inject[0].commands == std::vector{command({"clock", "n1", "-0.250"})});
  CHECK(plan.undo[0].commands == std::vector{command({"clock", "n1", "+0"})});
}

TEST_CASE("drawn offsets lie within the maximum, on both sides") {
  const FaultEntry entry = clock_skew_fault();
  const Options options =
      Options::make(entry.name, entry.options,
                    {{"max-offset", {"2s", "test"}}, {"direction", {"both", "test"}}})
          .value();
  Random random(1);
  std::set<char> signs;
  for (int i = 0; i < 200; ++i) {
    const std::string offset = entry.draw(options, {"n1"}, random).parameters.at("offset");
    CHECK(std::abs(std::stod(offset)) <= 2.0);
    signs.insert(offset[0]);
  }
  CHECK(signs == std::set<char>{'+', '-'});
  CHECK(faketime_offset(-250ms) == "-0.250");
  CHECK(faketime_offset(37500ms) == "+37.500");
}

TEST_CASE("a partition of an IPv6 client uses ip6tables") {
  Field field;
  field.battlefield.control_address = "fd00::1";
  const Fault fault{"partition", {"n1"}, {{"direction", "in"}}};
  const FaultPlan plan = partition_fault().plan(fault, field.battlefield).value();
  CHECK(plan.inject[0].commands[0].arguments[0] == "ip6tables");
}

TEST_CASE("a partition refuses to cut the port of SSH") {
  Field field;
  field.battlefield.server = [](const Host& host) {
    ServerControl control = Field::control(host);
    control.port = 22;
    return control;
  };
  CHECK_FALSE(
      partition_fault().plan({"partition", {"n1"}, {{"direction", "in"}}}, field.battlefield));
}

TEST_CASE("a fault on a host that is not in the run is an error") {
  const Field field;
  const auto plan = pause_fault().plan({"pause", {"n7"}, {}}, field.battlefield);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().message == "fault pause names host n7, which is not in this run");
}

TEST_CASE("as many hosts are drawn as was asked for") {
  const std::vector<std::string> hosts{"n1", "n2", "n3", "n4", "n5"};
  Random random(3);
  CHECK(draw_hosts("one", hosts, random).size() == 1);
  CHECK(draw_hosts("minority", hosts, random).size() == 2);
  CHECK(draw_hosts("majority", hosts, random).size() == 3);
  CHECK(draw_hosts("all", hosts, random) == hosts);
  CHECK(draw_hosts("minority", {"n1"}, random).size() == 1);
  CHECK(draw_hosts("all", {}, random).empty());
  std::set<std::string> seen;
  for (int i = 0; i < 200; ++i) seen.insert(draw_hosts("one", hosts, random)[0]);
  CHECK(seen.size() == hosts.size());
}

TEST_CASE("the same generator draws the same faults") {
  for (const FaultEntry& entry : fault_catalog()) {
    const Options options = Options::make(entry.name, entry.options, {}).value();
    Random a(9);
    Random b(9);
    const Fault fault = entry.draw(options, {"n1", "n2", "n3"}, a);
    CHECK(fault == entry.draw(options, {"n1", "n2", "n3"}, b));
    CHECK(fault.name == entry.name);
  }
}

}  // namespace
}  // namespace ordeal
