// A primary and the replicas that follow it, as real servers on loopback addresses.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/mariadb_server.h"
#include "tests/targets/transactions.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

// On its own host: clients are not let in there.
std::string ask(MariaDbServer& server, Host& host, const std::string& sql) {
  const auto socket = server.target().control(host).directory / "data/socket";
  return server.control(
      host,
      {{"mariadb", "--no-defaults", "-S", socket.string(), "-u", "root", "-BNe", sql}, {}, {}, {}});
}

bool comes_to_count(MariaDbServer& server, const std::string& host, const std::string& count) {
  for (int i = 0; i < 300; ++i) {
    if (ask(server, server.host(host), "SELECT COUNT(*) FROM ordeal.t") == count + "\n")
      return true;
    std::this_thread::sleep_for(50ms);
  }
  return false;
}

std::vector<std::string> members(MariaDbServer& server, const std::string& host) {
  auto found = server.target().members(server.host(host));
  if (!found) return {found.error().message};
  std::sort(found->begin(), found->end());
  return *found;
}

TEST_CASE("mariadb replicas: roles, legs, rows that reach each, also after a kill") {
  using Names = std::vector<std::string>;
  MariaDbServer server({}, "list-append", {}, 3, "replicas");
  Target& target = server.target();
  CHECK(target.hosts() == Names{"n1", "n2", "n3"});
  CHECK(target.role("n1") == "primary");
  CHECK(target.role("n2") == "replica");
  const auto path = [&](const std::string& from) {
    return Path{.from = from,
                .to = "n1",
                .address = server.host("n1").spec().address,
                .port = server.port()};
  };
  CHECK(target.legs() == std::vector<Leg>{{"client-db", {path("control")}},
                                          {"replication", {path("n2"), path("n3")}}});
  server.up();
  server.execute("CREATE TABLE t (x int); INSERT INTO t VALUES (1)");
  for (const char* host : {"n2", "n3"}) CHECK(comes_to_count(server, host, "1"));
  CHECK(members(server, "n1") == Names{"n1", "n2", "n3"});
  CHECK(members(server, "n2") == Names{"n1", "n2"});

  Host& replica = server.host("n2");
  const ServerControl control = target.control(replica);
  CHECK_FALSE(run_checked(replica, control.commit));  // takes no changes
  CHECK(run_checked(server.host(), server.server().commit));
  for (int twice = 0; twice < 2; ++twice) server.control(replica, control.kill);
  CHECK(server.state(replica) == "absent\n");
  server.execute("INSERT INTO t VALUES (2)");
  for (int twice = 0; twice < 2; ++twice) server.control(replica, control.start);
  REQUIRE(target.await_ready(replica, 30s, {}));
  CHECK(comes_to_count(server, "n2", "2"));

  server.control(server.server().kill);
  std::string message;
  // A replica may take a moment to see that its connection is lost.
  CHECK(until([&] {
    const auto ready = target.await_ready(replica, 300ms, {});
    if (!ready) message = ready.error().message;
    return !ready;
  }));
  CHECK_THAT(message, Catch::StartsWith("n2 was not ready after 300ms: the replica does not "
                                        "receive and apply what the primary writes"));
  CHECK(members(server, "n2") == Names{"n2"});
  server.control(server.server().start);
  REQUIRE(server.on_each([&](Host& host) { return target.await_ready(host, 30s, {}); }));
  server.execute("INSERT INTO t VALUES (3)");
  for (const char* host : {"n2", "n3"}) CHECK(comes_to_count(server, host, "3"));
}

TEST_CASE("mariadb replicas: with a frozen semi-synchronous one a commit hangs, and ends as info") {
  MariaDbServer server(ServerSettings{{"semi-sync", "true"}, {"operation-timeout", "1s"}},
                       "list-append", {}, 2, "replicas");
  server.up();
  server.execute("CREATE TABLE t (x int)");
  Host& replica = server.host("n2");
  auto connection = server.connection();
  CHECK(described(run(*connection, {"INSERT INTO t VALUES (1)"})) == "ok");
  server.control(replica, server.target().control(replica).pause);
  CHECK_THAT(described(run(*connection, {"INSERT INTO t VALUES (2)"})),
             Catch::StartsWith("info time-out"));
  CHECK(server.count("t") == 1);  // the waiting one is visible to nobody
  server.control(replica, server.target().control(replica).resume);
  CHECK(until([&] { return server.count("t") == 2; }));  // an info that did happen
  CHECK(comes_to_count(server, "n2", "2"));
}

TEST_CASE("mariadb replicas: both legs lead where they are rerouted to") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "1s"}}, "list-append", {}, 2,
                       "replicas");
  Target& target = server.target();
  const int nobody = free_port();
  const auto legs = target.legs();
  REQUIRE(target.reroute("replication", legs[1].paths[0], "127.0.0.1", nobody));
  CHECK(target.legs() == legs);
  REQUIRE(server.on_each([&](Host& host) { return target.install(host, {}); }));
  REQUIRE(server.on_each([&](Host& host) { return target.start(host, {}); }));
  REQUIRE(target.await_ready(server.host(), 30s, {}));
  const auto ready = target.await_ready(server.host("n2"), 2s, {});
  REQUIRE_FALSE(ready);
  CHECK_THAT(ready.error().message, Catch::Contains(std::to_string(nobody)));
  REQUIRE(target.reroute("client-db", legs[0].paths[0], "127.0.0.1", nobody));
  const auto client = target.connect("list-append", ProcessId{0}, {});
  REQUIRE_FALSE(client);
  CHECK_THAT(client.error().message, Catch::Contains(std::to_string(nobody)));
}

}  // namespace
}  // namespace ordeal
