// A Galera cluster of three, as real servers on loopback addresses. tests/e2e/mariadb_test.py kills
// all three.
#include <algorithm>
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/mariadb_server.h"
#include "tests/targets/transactions.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;
using Catch::Matchers::StartsWith;

Names members(MariaDbServer& server, const std::string& host) {
  auto found = server.target().members(server.host(host));
  if (!found) return {found.error().message};
  std::sort(found->begin(), found->end());
  return *found;
}

void for_all(MariaDbServer& server, const std::function<Status(Host&)>& step) {
  const Status done = server.on_each(step);
  if (!done) FAIL(done.error().message);
}

void await_all(MariaDbServer& server) {
  for_all(server, [&](Host& host) { return server.target().await_ready(host, 60s, {}); });
  CHECK(until([&] { return members(server, "n2") == Names{"n1", "n2", "n3"}; }, 30s));
}

Status run_on(Host& host, const Command& command) {
  return run_checked(host, command, 30s).map([](const auto&) {});
}

std::string count_on(MariaDbServer& server, const std::string& host) {
  return query(*server.connection(server.host(host), "read-committed"),
               "SET wsrep_sync_wait = 1; SELECT COUNT(*) FROM t");
}

TEST_CASE("mariadb galera: members come back from a kill of two and from a stop of all") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "10s"}}, "list-append", {}, 3,
                       "galera");
  Target& target = server.target();
  CHECK(target.role("n3") == "member");
  const auto legs = target.legs();
  REQUIRE(legs.size() == 2);
  CHECK(legs[0].paths.size() == 3);
  CHECK(legs[1].paths.size() == 18);
  const auto refused = target.reroute("replication", legs[1].paths[0], "127.0.0.1", 1);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::bad_input);

  server.up();
  CHECK(members(server, "n1") == Names{"n1", "n2", "n3"});
  const auto kill = [&](Host& host) { return run_on(host, target.control(host).kill); };
  const auto start = [&](Host& host) { return run_on(host, target.control(host).start); };
  server.execute("CREATE TABLE t (x int PRIMARY KEY); INSERT INTO t VALUES (1)");
  for (const auto& host : target.hosts()) CHECK(count_on(server, host) == "1");
  // Clients of different processes use different members.
  for (const int process : {0, 1, 2}) CHECK(server.client(process)->connected());

  // Certification: the other member committed a change of the same row.
  auto first = server.connection(server.host("n1"), "repeatable-read");
  auto second = server.connection(server.host("n2"), "repeatable-read");
  const auto certified = run_around(
      *first, "UPDATE t SET x = 7",
      [&] { CHECK(described(run(*second, {"UPDATE t SET x = 2"})) == "ok"); }, "");
  CHECK_THAT(described(certified), StartsWith("fail deadlock"));
  CHECK(described(run(*first, {"SELECT 1"})) == "ok");
  CHECK(server.count("t WHERE x = 7") == 0);

  Host& third = server.host("n3");
  // The one that is left has no majority. What it was asked in between may get no answer at all.
  REQUIRE(kill(third));
  REQUIRE(kill(server.host("n2")));
  std::string answer;
  until(
      [&] {
        answer = described(run(*first, {"SELECT * FROM t"}));
        if (!first->connected()) first = server.connection();
        return answer.starts_with("fail node-not-prepared");
      },
      60s);
  CHECK_THAT(answer, StartsWith("fail node-not-prepared"));
  REQUIRE(start(third));
  REQUIRE(start(server.host("n2")));
  await_all(server);

  server.execute("INSERT INTO t VALUES (3)");
  for_all(server, [&](Host& host) { return target.stop(host); });
  CHECK(server.state(third) == "absent\n");
  for_all(server, start);
  await_all(server);
  CHECK(count_on(server, "n3") == "2");
}

}  // namespace
}  // namespace ordeal
