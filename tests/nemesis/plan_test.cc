// Plans as pure functions: which commands, without running them.
#include "nemesis/plan.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "nemesis/clock_skew.h"
#include "nemesis/partition.h"
#include "nemesis/power.h"
#include "nemesis/process.h"
#include "nemesis/scope.h"
#include "remote/fake_host.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

struct Field {
  FakeHost n1{spec("n1")};
  FakeHost n2{spec("n2")};
  Battlefield battlefield{.control_address = "10.0.0.1",
                          .hosts = {&n1, &n2},
                          .server = control,
                          .run_id = "r1",
                          .terrain = {.servers = {{"n1", "db"}, {"n2", "db"}},
                                      .legs = {{"client-db", {path("n1"), path("n2")}}}}};

  static HostSpec spec(const char* name) {
    HostSpec result;
    result.name = name;
    result.address = std::string("10.0.1.") + name[1];
    result.power = std::string("/lab/") + name + "/power";
    return result;
  }
  static Path path(const char* to) {
    return {.from = std::string(kControlNode), .to = to, .address = spec(to).address, .port = 5432};
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

TEST_CASE("power is cut and restored by the control node; then the server is started") {
  const Field field;
  const FaultPlan plan =
      power_cut_fault().plan({"power-cut", {"n1", "n2"}}, field.battlefield).value();
  const std::string here(kControlNode);
  CHECK(plan.inject == std::vector<HostCommands>{{here,
                                                  {command({"sh", "/lab/n1/power", "off"}),
                                                   command({"sh", "/lab/n2/power", "off"})}}});
  CHECK(plan.undo == std::vector<HostCommands>{{"n1", {command({"start", "n1"})}},
                                               {"n2", {command({"start", "n2"})}},
                                               {here,
                                                {command({"sh", "/lab/n1/power", "on"}),
                                                 command({"sh", "/lab/n2/power", "on"})}}});
  const FaultPlan panic =
      kernel_panic_fault().plan({"kernel-panic", {"n2"}}, field.battlefield).value();
  REQUIRE(panic.inject.size() == 2);
  CHECK(panic.inject[0].host == "n2");
  CHECK(panic.inject[1].host == here);  // which thereby arms its watchdog
  CHECK(panic.undo == std::vector<HostCommands>{{"n2", {command({"start", "n2"})}},
                                                {here, {command({"sh", "/lab/n2/power", "on"})}}});
}

TEST_CASE("faults of a server's clock are refused where libfaketime does not reach it") {
  Field field;
  CHECK(plan_fault({"clock-skew", {"n1"}, {}, {{"offset", "+5"}}}, field.battlefield));
  field.battlefield.server = [](const Host& host) {
    ServerControl control = Field::control(host);
    control.clock_offset = {};
    return control;
  };
  for (const char* name : {"clock-skew", "clock-strobe", "clock-drift"}) {
    const auto plan = plan_fault({name, {"n2"}}, field.battlefield);
    REQUIRE_FALSE(plan);
    CHECK(plan.error().kind == ErrorKind::bad_input);
    CHECK(plan.error().message.starts_with(std::string("fault ") + name +
                                           " cannot be done to the server on n2: libfaketime"));
  }
  CHECK(plan_fault({"kill", {"n2"}}, field.battlefield));
}

TEST_CASE("process faults send the server's own commands to each drawn host") {
  const Field field;
  const Fault both{"kill", {"n1", "n2"}};
  const FaultPlan plan = kill_fault().plan(both, field.battlefield).value();
  CHECK(plan.detail == "SIGKILL to the database on n1, n2");
  CHECK(plan.inject == std::vector<HostCommands>{{"n1", {command({"kill", "n1"})}},
                                                 {"n2", {command({"kill", "n2"})}}});
  CHECK(plan.undo == std::vector<HostCommands>{{"n1", {command({"start", "n1"})}},
                                               {"n2", {command({"start", "n2"})}}});
  const FaultPlan pause = pause_fault().plan({"pause", {"n2"}}, field.battlefield).value();
  CHECK(pause.inject == std::vector<HostCommands>{{"n2", {command({"pause", "n2"})}}});
  CHECK(pause.undo == std::vector<HostCommands>{{"n2", {command({"resume", "n2"})}}});
}

TEST_CASE("clock skew adds the offset to the server's command") {
  const Field field;
  const Fault fault{"clock-skew", {"n1"}, {}, {{"offset", "-0.250"}}};
  const FaultPlan plan = clock_skew_fault().plan(fault, field.battlefield).value();
  CHECK(plan.inject[0].commands == std::vector{command({"clock", "n1", "-0.250 x1"})});
  CHECK(plan.undo[0].commands == std::vector{command({"clock", "n1", "+0 x1"})});
}

TEST_CASE("an offset reaches libfaketime with its sign and decimals, however it was written") {
  const Field field;
  const std::pair<const char*, std::string> cases[] = {{"5", "+5.000"},
                                                       {"+1e1", "+10.000"},
                                                       {"-0.25", "-0.250"},
                                                       {"0x10", "+16.000"},
                                                       {" 7.1239", "+7.124"}};
  for (const auto& [written, taken] : cases) {
    CAPTURE(written);
    const Fault skew{"clock-skew", {"n1"}, {}, {{"offset", written}}};
    const FaultPlan plan = plan_fault(skew, field.battlefield).value();
    CHECK(plan.inject[0].commands == std::vector{command({"clock", "n1", taken + " x1"})});
    const Fault strobe{"clock-strobe", {"n1"}, {}, {{"offset", written}, {"period", "500"}}};
    const FaultPlan strobes = plan_fault(strobe, field.battlefield).value();
    const auto& arguments = strobes.inject[0].commands[0].arguments;
    const std::string line = shell_line(command({"clock", "n1", taken + " x1"}));
    CHECK(std::find(arguments.begin(), arguments.end(), line) != arguments.end());
  }
}

TEST_CASE("an offset that is none, or too small to be measured, is refused") {
  const Field field;
  for (const char* offset : {"banana", "0", "+0.05", "1e99", ""}) {
    const Fault fault{"clock-skew", {"n1"}, {}, {{"offset", offset}}};
    CAPTURE(offset);
    CHECK_FALSE(plan_fault(fault, field.battlefield));
  }
}

TEST_CASE("drawn offsets lie within the maximum, on both sides") {
  const FaultEntry entry = clock_skew_fault();
  const Options options =
      Options::make(entry.name, entry.options,
                    {{"max-offset", {"2s", "test"}}, {"jump", {"both", "test"}}})
          .value();
  Random random(1);
  std::set<char> signs;
  for (int i = 0; i < 200; ++i) {
    const std::string offset =
        entry.draw(options, {.servers = {{"n1", "db"}}}, random).parameters.at("offset");
    CHECK(std::abs(std::stod(offset)) <= 2.0);
    CHECK(std::abs(std::stod(offset)) >= 0.2);
    signs.insert(offset[0]);
  }
  CHECK(signs == std::set<char>{'+', '-'});
  CHECK(offset_text(-250ms) == "-0.250");
  CHECK(offset_text(37500ms) == "+37.500");
}

Fault cut(const char* direction) {
  return {"partition", {}, {"client-db"}, {{"direction", direction}}};
}

TEST_CASE("a partition drops the leg's packets at the server, one way or both") {
  const Field field;
  const FaultPlan plan = partition_fault().plan(cut("both"), field.battlefield).value();
  REQUIRE(plan.inject.size() == 2);
  CHECK(plan.inject[1].host == "n2");
  CHECK(plan.inject[1].commands[0].standard_input ==
        "*filter\n:ORDEAL-P-r1 - [0:0]\n"
        "-A ORDEAL-P-r1 -s 10.0.0.1 -p tcp --dport 5432 -j DROP\n"
        "-A ORDEAL-P-r1 -d 10.0.0.1 -p tcp --sport 5432 -j DROP\n"
        "-I INPUT -j ORDEAL-P-r1\n-I OUTPUT -j ORDEAL-P-r1\nCOMMIT\n");
  const FaultPlan upstream = partition_fault().plan(cut("upstream"), field.battlefield).value();
  const std::string& text = upstream.inject[0].commands[0].standard_input;
  CHECK(text.find("OUTPUT") == std::string::npos);
  CHECK(text.find("--sport") == std::string::npos);
  CHECK(upstream.effect.size() == 2);
  CHECK(upstream.effect[0].host == kControlNode);
}

TEST_CASE("packets of a replica's leg through the proxy are dropped where the replica sends them") {
  Field field;
  field.battlefield.terrain.legs = {{"replication",
                                     {{.from = "n2",
                                       .to = "n1",
                                       .address = "10.0.1.1",
                                       .port = 5432,
                                       .listener = "replication",
                                       .listener_port = 7000}}}};
  const Fault fault{"partition", {}, {"replication"}, {{"direction", "upstream"}}};
  const FaultPlan plan = partition_fault().plan(fault, field.battlefield).value();
  REQUIRE(plan.inject.size() == 1);
  CHECK(plan.inject[0].host == "n2");
  CHECK(plan.inject[0].commands[0].standard_input.find(
            "-d 10.0.0.1 -p tcp --dport 7000 -j DROP\n-I OUTPUT") != std::string::npos);
}

TEST_CASE("a partition of an IPv6 client uses ip6tables") {
  Field field;
  field.battlefield.control_address = "fd00::1";
  const FaultPlan plan = partition_fault().plan(cut("upstream"), field.battlefield).value();
  CHECK(plan.inject[0].commands[0].arguments[0] == "ip6tables-restore");
}

TEST_CASE("a partition refuses to cut the port of SSH") {
  Field field;
  field.battlefield.terrain.legs[0].paths[0].port = 22;
  CHECK_FALSE(partition_fault().plan(cut("upstream"), field.battlefield));
}

TEST_CASE("hosts that drop each other's packets are told in the fault, and planned from it") {
  const Field field;
  const Fault fault{"partition-hosts", {"n1"}, {}, {{"grudge", "n1!n2"}}};
  const FaultPlan plan = partition_hosts_fault().plan(fault, field.battlefield).value();
  CHECK(plan.detail == "n1 drops packets of n2");
  REQUIRE(plan.inject.size() == 1);
  CHECK(plan.inject[0].commands[0].standard_input.find("-s 10.0.1.2 -j DROP") != std::string::npos);
  CHECK(plan.effect.at(0).host == "n2");
}

TEST_CASE("every shape of partition that is drawn cuts something, and reads back") {
  const FaultEntry entry = partition_hosts_fault();
  Terrain terrain;
  for (const char* name : {"n1", "n2", "n3", "n4", "n5"}) terrain.servers.push_back({name, "db"});
  terrain.servers.back().role = "bus";
  for (const std::string_view shape : entry.options[0].choices) {
    const Options options =
        Options::make(entry.name, entry.options, {{"shape", {std::string(shape), "test"}}}).value();
    std::set<bool> one_way;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Random random(seed);
      const Fault fault = entry.draw(options, terrain, random);
      CAPTURE(shape, seed);
      REQUIRE_FALSE(fault.hosts.empty());
      const std::string& grudge = fault.parameters.at("grudge");
      const std::string first = grudge.substr(0, grudge.find(','));
      const std::string back = first.substr(3) + "!" + first.substr(0, 2);
      one_way.insert(("," + grudge + ",").find("," + back + ",") == std::string::npos);
    }
    CHECK(one_way.size() == 2);
  }
}

TEST_CASE("two systems are cut from each other, and nothing else") {
  const FaultEntry entry = partition_hosts_fault();
  const Terrain terrain{{{"n1", "db.primary"}, {"n2", "db.standby"}, {"n3", "bus"}, {"n4", "web"}}};
  const auto grudge = [&](const char* setting, const char* value) {
    const auto options = Options::make(entry.name, entry.options,
                                       {{setting, {value, "c"}}, {"ways", {"both", "c"}}});
    REQUIRE(options);
    Random random(1);
    const Fault fault = entry.draw(*options, terrain, random);
    return fault.hosts.empty() ? "" : fault.parameters.at("grudge");
  };
  CHECK(grudge("between", "db, bus") == "n1!n3,n2!n3,n3!n1,n3!n2");
  CHECK(grudge("between", "db.standby, web") == "n2!n4,n4!n2");
  CHECK(grudge("between", "db, nosuch") == "");
  CHECK_FALSE(Options::make(entry.name, entry.options, {{"between", {"db", "c"}}}));
  std::set<std::string> drawn;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Options options = Options::make(entry.name, entry.options,
                                          {{"shape", {"systems", "c"}}, {"ways", {"both", "c"}}})
                                .value();
    Random random(seed);
    drawn.insert(entry.draw(options, terrain, random).parameters.at("grudge"));
  }
  CHECK(drawn ==
        std::set<std::string>{"n1!n3,n2!n3,n3!n1,n3!n2", "n1!n4,n2!n4,n4!n1,n4!n2", "n3!n4,n4!n3"});
}

TEST_CASE("a fault on a host that is not in the run is an error") {
  const Field field;
  const auto plan = pause_fault().plan({"pause", {"n7"}}, field.battlefield);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().message == "fault pause names host n7, which is not in this run");
}

std::vector<std::string> draw_hosts(const std::string& choice, std::size_t hosts, Random& random,
                                    const std::string& role = "") {
  static constexpr OptionSpec kSpecs[] = {kHostsOption, kRoleOption};
  Terrain terrain;
  for (std::size_t i = 1; i <= hosts; ++i) {
    terrain.servers.push_back({"n" + std::to_string(i), i == 1 ? "primary" : "standby"});
  }
  const Options options =
      Options::make("test", kSpecs, {{"hosts", {choice, ""}}, {"role", {role, ""}}}).value();
  return draw_servers(options, terrain, random);
}

TEST_CASE("as many hosts are drawn as was asked for, of the role that was asked for") {
  Random random(3);
  CHECK(draw_hosts("one", 5, random).size() == 1);
  CHECK(draw_hosts("minority", 5, random).size() == 2);
  CHECK(draw_hosts("majority", 5, random).size() == 3);
  CHECK(draw_hosts("all", 5, random).size() == 5);
  CHECK(draw_hosts("minority", 1, random).size() == 1);
  CHECK(draw_hosts("all", 0, random).empty());
  CHECK(draw_hosts("all", 3, random, "standby") == std::vector<std::string>{"n2", "n3"});
  std::set<std::string> seen;
  std::set<std::string_view> shares;
  for (int i = 0; i < 200; ++i) {
    seen.insert(draw_hosts("one", 5, random)[0]);
    const std::size_t some = draw_hosts("some", 5, random).size();
    CHECK((some >= 2 && some <= 4));
    shares.insert(share_of(draw_hosts("random", 5, random).size(), 5));
  }
  CHECK(seen.size() == 5);
  CHECK(shares == std::set<std::string_view>{"one", "some", "all"});
}

TEST_CASE("the same generator draws the same faults") {
  for (const FaultEntry& entry : fault_catalog()) {
    const Options options = Options::make(entry.name, entry.options, {}).value();
    Random a(9);
    Random b(9);
    const Field field;
    const Fault fault = entry.draw(options, field.battlefield.terrain, a);
    CHECK(fault == entry.draw(options, field.battlefield.terrain, b));
    CHECK(fault.name == entry.name);
  }
}

}  // namespace
}  // namespace ordeal
