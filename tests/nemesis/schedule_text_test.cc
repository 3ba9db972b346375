// Schedules as people write and read them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "tests/nemesis/schedule_terrain.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

TEST_CASE("schedules are written as they are read") {
  const ScheduledFault scheduled{
      .start = 12500ms,
      .duration = 4s,
      .fault = {"partition", {}, {"client-db"}, {{"direction", "upstream"}}}};
  CHECK(describe(scheduled).when == "at 12500ms for 4s");
  CHECK(describe(scheduled).what == "partition legs=client-db direction=upstream");
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    for (const ScheduledFault& each :
         make_schedule({}, all_faults(), terrain(), 120s, Random(seed))) {
      const auto read = parse_step(describe(each), all_faults(), terrain(), Random(seed + 1));
      INFO((read ? "" : read.error().message));
      REQUIRE(read);
      CHECK(*read == each);
    }
  }
}

std::string refused(const StepText& step) {
  const auto read = parse_step(step, {}, terrain(), Random(1));
  return read ? "" : read.error().message;
}

TEST_CASE("what a written step leaves open is drawn, and what is wrong with it is told") {
  const auto kill = parse_step({"at 12s", "kill n2"}, {}, terrain(), Random(1)).value();
  CHECK(kill == ScheduledFault{12s, 5s, {"kill", {"n2"}}});
  const auto cut = parse_step({"at 1s for 2s", "partition"}, {}, terrain(), Random(1)).value();
  CHECK(cut.fault.legs.size() == 1);
  CHECK(refused({"12s", "kill n2"}) == "\"12s\": expected a time such as `at 12s for 4s`");
  CHECK(refused({"at soon", "kill n2"}).find("at 12s for 4s") != std::string::npos);
  CHECK(refused({"at 1s", ""}) == "expected a fault, such as `kill n1`");
  CHECK(refused({"at 1s", "kil n1"}).find("kill") != std::string::npos);
  CHECK(refused({"at 1s", "kill n9"}).find("host") != std::string::npos);
  CHECK(refused({"at 1s", "partition legs=x"}).find("leg") != std::string::npos);
  CHECK(refused({"at 1s", "kill n1 speed=3"}).find("no such parameter; known: none") !=
        std::string::npos);
  CHECK(refused({"at 1s", "kill n1 legs=client-db"}).find("no such parameter") !=
        std::string::npos);
  Terrain systems = terrain();
  systems.servers = {{"n1", "db.primary"}, {"n2", "db.standby"}, {"n3", "bus"}};
  const auto of = [&](const char* what) {
    return parse_step({"at 1s", what}, {}, systems, Random(1)).value().fault.hosts;
  };
  using Hosts = std::vector<std::string>;
  CHECK(of("kill db") == Hosts{"n1", "n2"});
  CHECK(of("kill db.standby,bus") == Hosts{"n2", "n3"});
  CHECK(of("kill db.primary,db") == Hosts{"n1", "n2"});
  CHECK(of("kill n3") == Hosts{"n3"});
  CHECK(refused({"at 1s", "partition n1"}).find("takes no hosts") != std::string::npos);
  CHECK(refused({"at 1s", "partition direction=sideways"}) ==
        "direction=sideways: expected upstream, downstream or both");
}

TEST_CASE("what a written step says twice is refused") {
  CHECK(refused({"at 1s", "latency latency=5 latency=7"}) ==
        "\"latency=7\": latency of fault latency is set twice");
  CHECK(refused({"at 1s", "latency legs=backup legs=backup"}) ==
        "\"legs=backup\": legs of fault latency is set twice");
  CHECK(refused({"at 1s", "latency legs=backup,backup"}) ==
        "\"legs=backup,backup\": backup is named twice");
  CHECK(refused({"at 1s", "kill n1,n2,n1"}) == "\"n1,n2,n1\": n1 is named twice");
  CHECK(refused({"at 1s", "kill n1 n2"}) ==
        "\"n2\": hosts of fault kill are named twice; expected one list, such as `n1,n2`");
}

TEST_CASE("a written step that strikes nothing is refused") {
  CHECK(refused({"at 1s", "partition legs="}) ==
        "\"legs=\": expected names with commas between them");
  CHECK(refused({"at 1s", "kill ,"}) == "\",\": expected names with commas between them");
  Terrain without = terrain();
  for (Leg& each : without.legs) each.paths[0].listener.clear();
  const auto read = parse_step({"at 1s", "latency"}, {}, without, Random(1));
  REQUIRE_FALSE(read);
  CHECK(read.error().message ==
        "fault latency finds nothing to strike; change its settings, or `legs:`");
}

TEST_CASE("of a written partition of hosts, hosts and shape agree with the grudge") {
  const auto read = [](const std::string& what) {
    return parse_step({"at 1s", "partition-hosts" + what}, {}, terrain(), Random(1)).value().fault;
  };
  const Fault written = read(" grudge=n2!n1,n1!n3,n2!n3");
  CHECK(written.hosts == std::vector<std::string>{"n1", "n2"});
  CHECK(written.parameters == std::map<std::string, std::string>{{"grudge", "n2!n1,n1!n3,n2!n3"}});
  CHECK(read(" n2,n1 grudge=n1!n3,n2!n3 shape=halves").parameters.at("shape") == "halves");
  const Fault drawn = read("");
  CHECK_FALSE(drawn.hosts.empty());
  CHECK(drawn.parameters.at("shape") != "random");
  const auto fails = [](const std::string& what) {
    return refused({"at 1s", "partition-hosts" + what});
  };
  CHECK(
      fails(" grudge=n1!n2 shape=square").starts_with("shape=square: expected one of one, halves"));
  CHECK(fails(" shape=halves").starts_with("shape=halves: of a written step it only tells"));
  CHECK(fails(" n3 grudge=n1!n2").starts_with("\"n3\": by the grudge, n1 drop packets"));
  for (const char* grudge : {"", "n1", "n1!n1", "n1!n2,n1!n2", "n1!"}) {
    CHECK(fails(std::string(" grudge=") + grudge).find("expected pairs") != std::string::npos);
  }
}

}  // namespace
}  // namespace ordeal
