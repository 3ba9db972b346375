#include "nemesis/packet_shaping.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>
#include <thread>

#include "nemesis/packet_loss.h"
#include "nemesis/plan.h"
#include "nemesis/probe.h"
#include "nemesis/shaping.h"
#include "remote/fake_host.h"
#include "world.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

// Sends 100,000 bytes to each client, and ends after a quarter of a minute.
constexpr const char* kManyBytes = R"(
import signal, socket, sys
signal.alarm(15)
listener = socket.create_server(("10.99.0.2", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    try:
        connection.sendall(bytes(100_000))
    except OSError:
        pass
    connection.close()
)";

// $1 is the program, $2 its port. Returns once it listens.
constexpr const char* kServe = R"sh(
setsid python3 -c "$1" "$2" </dev/null >/dev/null 2>&1 &
for try in $(seq 100); do
  grep -q "$(printf ':%04X 0\{8\}:0000 0A' "$2")" /proc/net/tcp && exit 0
  sleep 0.05
done
exit 1
)sh";

struct Fixture {
  World world;
  const FaultEntry entry = bandwidth_limit_fault();

  FaultPlan plan(int port, const std::string& rate, const std::string& run = "") const {
    Fault fault = world.draw(entry);
    fault.parameters["rate"] = rate;
    Battlefield field = world.battlefield();
    field.terrain.legs[0].paths[0].port = port;
    field.run_id += run;
    return entry.plan(fault, field).value();
  }
  Status run(const std::vector<HostCommands>& commands) {
    return run_checked(world.host(), commands.at(0).commands.at(0)).map([](const auto&) {});
  }
  int serve_many_bytes() {
    const int port = world.port() + 10'000;
    REQUIRE(run_checked(world.host(), script(kServe, {kManyBytes, std::to_string(port)})));
    return port;
  }
  double seconds_of_download(int port) {
    const auto begin = std::chrono::steady_clock::now();
    Host& control = *world.cluster().find(kControlNode);
    const auto output = run_checked(
        control, command({"timeout", "9", "bash", "-c", "cat <\"/dev/tcp/10.99.0.2/$0\" | wc -c",
                          std::to_string(port)}));
    CHECK((output && output->standard_output == "100000\n"));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  // What a busy machine delays once, it does not delay ten times.
  bool sometimes_faster_than(double seconds, int port) {
    for (int i = 0; i < 10; ++i)
      if (seconds_of_download(port) < seconds) return true;
    return false;
  }
};

TEST_CASE("a limit of bandwidth slows the leg down to its rate, and nothing else") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const std::string before = fixture.world.firewall();
  const int port = fixture.serve_many_bytes();
  const FaultPlan plan = fixture.plan(port, "400");
  // 100,000 bytes at 50,000 a second, of which a burst of 16 KiB is free; headers come on top.
  constexpr double kLimited = 1.4;
  CHECK(fixture.sometimes_faster_than(kLimited, port));
  REQUIRE(fixture.run(plan.inject));
  CHECK(fixture.seconds_of_download(port) > kLimited);
  CHECK(fixture.sometimes_faster_than(3 * kLimited, port));
  CHECK(probe(plan.effect, fixture.world.cluster(), 1s, {}));
  CHECK(fixture.world.healthy());  // another port
  REQUIRE(fixture.run(plan.undo));
  CHECK(fixture.sometimes_faster_than(kLimited, port));
  CHECK(fixture.world.firewall() == before);
}

TEST_CASE("more bytes than the rate allows are no effect") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const int port = fixture.serve_many_bytes();
  const FaultPlan plan = fixture.plan(port, "100000");
  REQUIRE(fixture.run(plan.inject));
  Command strict = is_shaped(plan.undo[0].commands[0].arguments.at(4), 1000, 0);
  std::thread downloads([&] {
    for (int i = 0; i < 20; ++i) (void)fixture.seconds_of_download(port);
  });
  const auto seen = probe({{"n1", {strict}}}, fixture.world.cluster(), 100ms, {});
  downloads.join();
  CHECK_FALSE(seen);
  REQUIRE(fixture.run(plan.undo));
}

TEST_CASE("a second shaping of an interface is refused, and its undo leaves the first") {
  Fixture fixture;
  if (!fixture.world.can(fixture.entry)) return;
  const FaultPlan first = fixture.plan(fixture.world.port(), "500");
  const FaultPlan second = fixture.plan(fixture.world.port(), "500", "b");
  REQUIRE(fixture.run(first.inject));
  const std::string between = fixture.world.firewall();
  const Status refused = fixture.run(second.inject);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("v0 has a queueing discipline already (htb d") !=
        std::string::npos);
  REQUIRE(fixture.run(second.undo));
  CHECK(fixture.world.firewall() == between);
  REQUIRE(fixture.run(first.undo));
  CHECK(fixture.world.firewall() != between);
}

// ---- plans as pure functions

struct Field {
  FakeHost n1{spec("n1")};
  FakeHost n2{spec("n2")};
  Battlefield battlefield{.control_address = "10.0.0.1",
                          .hosts = {&n1, &n2},
                          .server = [](const Host&) { return ServerControl{}; },
                          .run_id = "r1",
                          .terrain = {.servers = {{"n1", "db"}, {"n2", "db"}},
                                      .legs = {{"client-db", {path("control", "n1")}},
                                               {"replication", {path("n1", "n2")}},
                                               {"proxied", {proxied()}}}}};

  static HostSpec spec(const char* name) {
    HostSpec result;
    result.name = name;
    result.address = std::string("10.0.1.") + name[1];
    return result;
  }
  static Path path(const char* from, const char* to) {
    return {.from = from, .to = to, .address = spec(to).address, .port = 5432};
  }
  static Path proxied() {
    Path result = path("n1", "n2");
    result.listener = "proxied-1";
    result.listener_port = 7000;
    return result;
  }
  Result<FaultPlan> plan(const char* leg, const char* direction,
                         std::map<std::string, std::string> parameters,
                         const FaultEntry& entry) const {
    parameters["direction"] = direction;
    return entry.plan({std::string(entry.name), {}, {leg}, std::move(parameters)}, battlefield);
  }
  std::vector<std::string> delay(const char* leg, const char* direction) const {
    const FaultPlan made =
        plan(leg, direction, {{"delay", "80"}, {"jitter", "20"}}, packet_delay_fault()).value();
    std::vector<std::string> told;
    for (const HostCommands& of_host : made.inject) {
      const auto& arguments = of_host.commands.at(0).arguments;
      told.push_back(of_host.host + ": " +
                     fmt::format("{}", fmt::join(arguments.begin() + 5, arguments.end(), " ")));
    }
    return told;
  }
};

using Told = std::vector<std::string>;

TEST_CASE("packets are queued where they leave a host") {
  const Field field;
  const std::string queue = "netem limit 10000 delay 80ms 20ms ";
  CHECK(field.delay("client-db", "downstream") == Told{"n1: " + queue + "10.0.0.1 ip sport 5432"});
  CHECK(field.delay("replication", "upstream") == Told{"n1: " + queue + "10.0.1.2 ip dport 5432"});
  CHECK(field.delay("replication", "both") ==
        Told{"n1: " + queue + "10.0.1.2 ip dport 5432", "n2: " + queue + "10.0.1.1 ip sport 5432"});
  CHECK(field.delay("proxied", "upstream") == Told{"n1: " + queue + "10.0.0.1 ip dport 7000"});
}

TEST_CASE("what leaves no host cannot be queued: it is not drawn, and refused when written") {
  const Field field;
  const auto& legs = field.battlefield.terrain.legs;
  CHECK(shaped_directions(legs[0]) == Told{"downstream"});
  CHECK(shaped_directions(legs[1]) == Told{"upstream", "downstream", "both"});
  CHECK(shaped_directions(legs[2]) == Told{"upstream"});
  const FaultEntry entry = bandwidth_limit_fault();
  const auto plan = field.plan("client-db", "upstream", {{"rate", "10"}}, entry);
  REQUIRE_FALSE(plan);
  CHECK(plan.error().message ==
        "fault bandwidth-limit: packets from control to n1 leave no host upstream, so they cannot "
        "be queued; choose another direction or leg, or a fault of the fault proxy");
  const Options options =
      Options::make(entry.name, entry.options, {{"direction", {"upstream", "test"}}}).value();
  std::set<std::string> drawn;
  Random random(1);
  for (int i = 0; i < 50; ++i) {
    const Fault fault = entry.draw(options, field.battlefield.terrain, random);
    CHECK(fault.parameters.at("direction") == "upstream");
    drawn.insert(fault.legs.at(0));
  }
  CHECK(drawn == std::set<std::string>{"proxied", "replication"});
  CHECK(entry.draw(options, {.servers = {}, .legs = {legs[0]}}, random).legs.empty());
}

TEST_CASE("each fault of netem has its own queue") {
  const Field field;
  const auto queue = [&](const FaultEntry& entry) {
    return field.plan("client-db", "downstream", {{"percent", "15"}}, entry)
        .value()
        .inject.at(0)
        .commands.at(0)
        .arguments.at(5);
  };
  CHECK(queue(packet_reorder_fault()) == "netem limit 10000 delay 20ms reorder 15% 25%");
  CHECK(queue(packet_duplicate_fault()) == "netem limit 10000 duplicate 15%");
  CHECK(queue(packet_corrupt_fault()) == "netem limit 10000 corrupt 15%");
}

TEST_CASE("what a share of packets suffers is asked of those who receive them") {
  const Field field;
  const auto asked = [&](const char* leg, const char* direction, const FaultEntry& entry) {
    const FaultPlan plan = field.plan(leg, direction, {{"percent", "15"}}, entry).value();
    Told told;
    for (const HostCommands& of_host : plan.effect) {
      const auto& arguments = of_host.commands.at(0).arguments;
      if (arguments.at(2).find("/proc/net/snmp") == std::string::npos) continue;
      told.push_back(of_host.host + " " + arguments.back());
    }
    return told;
  };
  CHECK(asked("client-db", "downstream", packet_corrupt_fault()) ==
        Told{"control Tcp:InCsumErrors"});
  CHECK(asked("replication", "upstream", packet_reorder_fault()) == Told{"n2 TcpExt:TCPOFOQueue"});
  CHECK(asked("replication", "both", packet_duplicate_fault()) ==
        Told{"n1 TcpExt:TCPDSACKOfoSent", "n2 TcpExt:TCPDSACKOfoSent"});
  CHECK(asked("proxied", "upstream", packet_corrupt_fault()) == Told{"control Tcp:InCsumErrors"});
}

// Sends a segment with no checksum at all, from the host to the client.
constexpr const char* kBadSegment = R"(
import socket, struct
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_TCP)
raw.sendto(struct.pack("!HHIIBBHHH", 7, 7, 1, 1, 80, 16, 1000, 0xBAD, 0), ("10.99.0.1", 0))
)";

TEST_CASE("a receiver's counters tell which segments arrived while they were looked at") {
  World world;
  if (!world.can(packet_loss_fault())) return;
  const HostCommands looks{
      std::string(kControlNode),
      {has_received({"segments with a wrong checksum", {"Tcp:InCsumErrors"}, 2})}};
  std::thread sending([&] {
    for (int i = 0; i < 2; ++i) {
      std::this_thread::sleep_for(1s);
      (void)world.host().run(command({"python3", "-c", kBadSegment}));
    }
  });
  const auto seen = probe({looks}, world.cluster(), 100ms, {});
  sending.join();
  REQUIRE(seen);
  CHECK(*seen == "control: the receiver counted 2 segments with a wrong checksum");
  const auto later = probe({looks}, world.cluster(), 100ms, {});
  REQUIRE_FALSE(later);
  CHECK(later.error().message == "control: the receiver counted 0 segments with a wrong checksum");
}

TEST_CASE("shaping refuses the port of SSH") {
  Field field;
  field.battlefield.terrain.legs[0].paths[0].port = 22;
  CHECK_FALSE(field.plan("client-db", "downstream", {{"rate", "10"}}, bandwidth_limit_fault()));
}

TEST_CASE("handles tell runs, faults, legs and directions apart") {
  const Fault fault{"packet-delay", {}, {"a"}, {{"direction", "both"}}};
  Fault other = fault;
  other.legs = {"b"};
  CHECK(shaping_handle(fault, "r1").size() == 4);
  CHECK(shaping_handle(fault, "r1")[0] == 'd');
  CHECK(shaping_handle(fault, "r1") != shaping_handle(fault, "r2"));
  CHECK(shaping_handle(fault, "r1") != shaping_handle(other, "r1"));
}

}  // namespace
}  // namespace ordeal
