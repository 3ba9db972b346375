// The lifecycle of a real cluster: made, started, broken, healed, stopped.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/etcd_cluster.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

bool is_ready(EtcdCluster& cluster, const std::string& host,
              std::chrono::milliseconds timeout = 60s) {
  const auto ready = cluster.target().await_ready(cluster.host(host), timeout, {});
  if (!ready) UNSCOPED_INFO(ready.error().message);
  return ready.has_value();
}

void on_all(EtcdCluster& cluster, Command ServerControl::*command) {
  const auto done = cluster.on_each([&](Host& host) -> Status {
    return run_checked(host, cluster.target().control(host).*command).map([](const auto&) {});
  });
  if (!done) FAIL(done.error().message);
}

std::vector<std::string> sorted_members(EtcdCluster& cluster, const std::string& host) {
  auto members = cluster.target().members(cluster.host(host));
  if (!members) return {members.error().message};
  std::sort(members->begin(), members->end());
  return *members;
}

TEST_CASE("etcd: three members, their roles, legs, logs and versions, and a change on each") {
  EtcdCluster cluster(3);
  Target& target = cluster.target();
  const std::vector<std::string> hosts{"n1", "n2", "n3"};
  CHECK(target.hosts() == hosts);
  CHECK(target.role("n2") == "member");
  const auto legs = target.legs();
  REQUIRE(legs.size() == 2);
  CHECK(legs[0].name == "client-db");
  CHECK(legs[0].paths[1] ==
        Path{.from = "control", .to = "n2", .address = "127.0.0.2", .port = cluster.port()});
  CHECK(legs[1].name == "peer");
  CHECK(legs[1].paths.size() == 6);
  cluster.up();
  for (const std::string& name : hosts) {
    Host& host = cluster.host(name);
    CHECK(sorted_members(cluster, name) == hosts);
    CHECK(cluster.state(host) == "running\n");
    cluster.control(host, target.control(host).commit);
    const auto version = target.version(host);
    REQUIRE(version);
    CHECK_THAT(*version, Catch::StartsWith("etcd 3."));
    const auto into = cluster.directory() / "downloaded" / name;
    REQUIRE(target.download_logs(host, into));
    CHECK_THAT(text_of(into / "etcd.log"), Catch::Contains("elected leader"));
  }
  CHECK(std::stod(cluster.control(cluster.server().age)) < 60);
  CHECK(cluster.processes() == 1);
}

TEST_CASE("etcd: what was written survives the end of one member, of two and of all") {
  EtcdCluster cluster(3, {{"operation-timeout", "2s"}});
  cluster.up();
  CHECK(invoke(*cluster.client(0), {write_op(1, 1)}) == "ok");
  SECTION("one, without which it goes on") {
    for (int twice = 0; twice < 2; ++twice) cluster.control(cluster.server().kill);
    CHECK(cluster.state(cluster.host()) == "absent\n");
    REQUIRE(is_ready(cluster, "n2"));
    CHECK(invoke(*cluster.client(1), {read_op(1), write_op(1, 2)}) == "ok 1");
    for (int twice = 0; twice < 2; ++twice) cluster.control(cluster.server().start);
    REQUIRE(is_ready(cluster, "n1"));
    CHECK(invoke(*cluster.client(0), {read_op(1)}) == "ok 2");
  }
  SECTION("two, without which it does not") {
    for (const char* name : {"n1", "n2"}) {
      cluster.control(cluster.host(name), cluster.target().control(cluster.host(name)).kill);
    }
    const auto ready = cluster.target().await_ready(cluster.host("n3"), 300ms, {});
    REQUIRE_FALSE(ready);
    CHECK_THAT(ready.error().message, Catch::StartsWith("n3 was not ready after 300ms:"));
    CHECK(sorted_members(cluster, "n3") == std::vector<std::string>{"n1", "n2", "n3"});
    on_all(cluster, &ServerControl::start);
    for (const char* name : {"n1", "n2", "n3"}) REQUIRE(is_ready(cluster, name));
    CHECK(invoke(*cluster.client(2), {read_op(1)}) == "ok 1");
  }
  SECTION("all, killed or stopped") {
    on_all(cluster, GENERATE(&ServerControl::kill, &ServerControl::stop));
    CHECK_FALSE(cluster.target().members(cluster.host()));
    on_all(cluster, &ServerControl::start);
    for (const char* name : {"n1", "n2", "n3"}) REQUIRE(is_ready(cluster, name));
    CHECK(invoke(*cluster.client(2), {read_op(1)}) == "ok 1");
  }
}

TEST_CASE("etcd: pause freezes a member, resume thaws it, stop works on a frozen one") {
  EtcdCluster cluster(1, {{"operation-timeout", "300ms"}});
  cluster.up();
  for (int twice = 0; twice < 2; ++twice) cluster.control(cluster.server().pause);
  CHECK(cluster.state(cluster.host()) == "stopped\n");
  CHECK_FALSE(is_ready(cluster, "n1", 600ms));
  for (int twice = 0; twice < 2; ++twice) cluster.control(cluster.server().resume);
  CHECK(is_ready(cluster, "n1"));
  cluster.control(cluster.server().pause);
  for (int twice = 0; twice < 2; ++twice) REQUIRE(cluster.target().stop(cluster.host()));
  CHECK(cluster.state(cluster.host()) == "absent\n");
  cluster.control(cluster.server().pause);  // of nothing
  cluster.control(cluster.server().resume);
}

TEST_CASE("etcd: what an earlier run left makes way, and nobody else's data does") {
  EtcdCluster cluster(1);
  cluster.up();
  CHECK(invoke(*cluster.client(), {write_op(1, 1)}) == "ok");
  SECTION("an earlier run's, while it runs") {
    cluster.up();
    CHECK(invoke(*cluster.client(), {read_op(1)}) == "ok nil");
  }
  SECTION("somebody else's") {
    cluster.control(cluster.server().kill);
    std::filesystem::remove(cluster.place() / "made-by-ordeal");
    const auto again = cluster.target().install(cluster.host(), {});
    REQUIRE_FALSE(again);
    CHECK_THAT(again.error().message, Catch::Contains("holds a database already"));
    CHECK(std::filesystem::exists(cluster.place() / "data/member"));
  }
}

Error refusal(std::size_t hosts, ServerSettings settings) {
  EtcdCluster cluster(hosts, std::move(settings));
  const auto installed = cluster.target().install(cluster.host(), {});
  REQUIRE_FALSE(installed);
  return installed.error();
}

TEST_CASE("etcd: what is wrong with the surroundings is said before anything starts") {
  const Error version = refusal(1, {{"version", "2.9"}});
  CHECK(version.kind == ErrorKind::surroundings);
  CHECK_THAT(version.message, Catch::Contains("is installed there, and the campaign wants version "
                                              "2.9; install that, or set the target's version"));
  const Error flag = refusal(1, {{"settings.bogus", "1"}});
  CHECK(flag.kind == ErrorKind::bad_input);
  CHECK(flag.message ==
        "n1: etcd refuses bogus = '1': flag provided but not defined: -bogus; correct or remove "
        "target.etcd.settings.bogus in the campaign");
  CHECK_THAT(refusal(1, {{"settings.snapshot-count", "few"}}).message,
             Catch::Contains("etcd refuses snapshot-count = 'few': invalid value \"few\""));

  EtcdCluster first(1);
  first.up();
  for (const char* setting : {"port", "peer-port"}) {
    const std::string port = std::to_string(first.port());
    const Error taken = refusal(1, {{setting, port}});
    CHECK_THAT(taken.message, Catch::StartsWith("n1: port " + port + " of 127.0.0.1 is in use"));
  }
}

TEST_CASE("etcd: settings that make no sense are refused as input") {
  const Cluster cluster = fake_cluster(3);
  const auto make = [&](const Options::Given& given) {
    return make_target("etcd", "register", given, cluster);
  };
  const auto all = make({});
  REQUIRE(all);
  CHECK((*all)->hosts().size() == 3);
  const auto two = make({{"hosts", {"n3, n1", "test"}}});
  REQUIRE(two);
  CHECK((*two)->hosts() == std::vector<std::string>{"n3", "n1"});
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"hosts", "n7"},         {"hosts", "n1, n1"},
      {"version", "../x"},     {"peer-port", "2379"},
      {"reads", "dirty"},      {"election-timeout", "400ms"},
      {"settings.name", "n9"}, {"settings.listen-peer-urls", "http://0.0.0.0:1"},
      {"settings.-x", "1"},    {"settings.snapshot-count", "1\n--name=x"},
  };
  for (const auto& [name, value] : wrong) {
    CAPTURE(name, value);
    const auto made = make({{name, {value, "test"}}});
    REQUIRE_FALSE(made);
    CHECK(made.error().kind == ErrorKind::bad_input);
  }
}

}  // namespace
}  // namespace ordeal
