// A system that takes its tables from another by logical replication, as real servers.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/postgres_server.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using sql::Execute;

void execute(PostgresServer& server, const std::string& statement) {
  const Status done = server.connection()->execute(statement, {});
  if (!done) FAIL(done.error().message);
}

std::string rows_of(PostgresServer& server) {
  std::string rows;
  const auto trouble = server.connection()->transact({}, [&](const Execute& ask) {
    rows = ask("SELECT string_agg(x::text, ',' ORDER BY x) FROM t")[0][0];
    return std::nullopt;
  });
  return trouble ? "trouble" : rows;
}

// Both are at 127.0.0.1, and tell each other by their ports.
struct Pair {
  PostgresServer publisher;
  PostgresServer subscriber{{}, "list-append", {}, {.upstream = &publisher.target()}};

  Pair() {
    publisher.target().admit({"127.0.0.1"});
    publisher.up();
    execute(publisher, "CREATE TABLE t (x int PRIMARY KEY)");
    execute(publisher, "INSERT INTO t VALUES (1)");
    subscriber.up();
  }
  Status follow() { return subscriber.target().follow(subscriber.host(), {}); }
  Status caught_up() { return subscriber.target().await_ready(subscriber.host(), 60s, {}); }
};

TEST_CASE("postgres subscriber: a leg to the publisher, and none without") {
  PostgresServer publisher;
  PostgresServer subscriber({}, "list-append", {}, {.upstream = &publisher.target()});
  const Path path{.from = "n1", .to = "n1", .address = "127.0.0.1", .port = publisher.port()};
  REQUIRE(subscriber.target().legs().size() == 2);
  CHECK(subscriber.target().legs().back() == Leg{"subscription", {path}});
  REQUIRE(subscriber.target().reroute("subscription", path, "127.0.0.1", 1));
  CHECK(subscriber.target().legs().back() == Leg{"subscription", {path}});  // where it leads to
  CHECK(publisher.target().legs().size() == 1);
  CHECK(publisher.target().endpoints() ==
        std::vector<Endpoint>{{"n1", "127.0.0.1", publisher.port()}});
}

TEST_CASE("postgres subscriber: has what was there before and what came after, also after a kill") {
  Pair pair;
  REQUIRE(pair.follow());
  CHECK(rows_of(pair.subscriber) == "1");
  execute(pair.publisher, "INSERT INTO t VALUES (2)");
  REQUIRE(pair.caught_up());
  CHECK(rows_of(pair.subscriber) == "1,2");
  pair.subscriber.control(pair.subscriber.server().kill);
  execute(pair.publisher, "INSERT INTO t VALUES (3)");
  pair.subscriber.control(pair.subscriber.server().start);
  REQUIRE(pair.caught_up());
  CHECK(rows_of(pair.subscriber) == "1,2,3");
  REQUIRE(pair.follow());  // again
  CHECK(rows_of(pair.subscriber) == "1,2,3");
}

TEST_CASE("postgres subscriber: is not ready while it lags behind, and says by how much") {
  Pair pair;
  REQUIRE(pair.follow());
  execute(pair.subscriber, "ALTER SUBSCRIPTION ordeal DISABLE");
  execute(pair.publisher, "INSERT INTO t VALUES (2)");
  const Status lags = pair.subscriber.target().await_ready(pair.subscriber.host(), 1s, {});
  REQUIRE_FALSE(lags);
  CHECK_THAT(lags.error().message, Catch::Contains("the subscriber is at 0/"));
}

TEST_CASE("postgres subscriber: a publisher that does not admit it is named") {
  PostgresServer publisher;
  PostgresServer subscriber({}, "list-append", {}, {.upstream = &publisher.target()});
  publisher.up();
  subscriber.up();
  const Status refused = subscriber.target().follow(subscriber.host(), {});
  REQUIRE_FALSE(refused);
  CHECK_THAT(refused.error().message,
             Catch::Contains("n1: could not subscribe to the tables of PostgreSQL on n1") &&
                 Catch::Contains("wal_level"));
}

TEST_CASE("postgres: members are those that receive") {
  PostgresServer server({}, "list-append", {}, {.count = 1});
  server.up();
  using Names = std::vector<std::string>;
  const auto members = [&](const char* host) {
    return server.target().members(server.host(host)).value_or(Names{"error"});
  };
  CHECK(members("n1") == Names{"n1", "n2"});
  CHECK(members("n2") == Names{"n2", "n1"});
  server.control(server.host("n2"), server.target().control(server.host("n2")).kill);
  for (int i = 0; i < 300 && members("n1").size() > 1; ++i) std::this_thread::sleep_for(50ms);
  CHECK(members("n1") == Names{"n1"});
  CHECK_FALSE(server.target().members(server.host("n2")));
}

}  // namespace
}  // namespace ordeal
