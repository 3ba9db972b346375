// Errors that sessions of a real PostgreSQL cause each other, and that leave them usable. The
// scenarios share a server.
#include <catch2/catch.hpp>

#include "tests/targets/outcome_probe.h"

namespace ordeal {
namespace {

using Catch::Matchers::StartsWith;
using postgres::Connection;

void serialization_failure_of_a_statement(PostgresServer& server, Connection& a, Connection& b) {
  const auto trouble = run_around(
      a, "SELECT * FROM t", [&] { CHECK_FALSE(run(b, {"UPDATE t SET v = 5 WHERE id = 1"})); },
      "UPDATE t SET v = 7 WHERE id = 1");
  CHECK_THAT(described(trouble), StartsWith("fail serialization-failure"));
  CHECK(count(server, "t WHERE v = 7") == 0);
}

// Write skew, which is found at COMMIT.
void serialization_failure_of_commit(PostgresServer& server, Connection& a, Connection& b) {
  Trouble inner;
  const auto outer = run_around(
      a, "SELECT sum(v) FROM t",
      [&] {
        inner = run_around(
            b, "SELECT sum(v) FROM t", [] {}, "UPDATE t SET v = 1 WHERE id = 2");
      },
      "UPDATE t SET v = 1 WHERE id = 1");
  CHECK(described(inner) == "ok");
  CHECK_THAT(described(outer), StartsWith("fail serialization-failure"));
  CHECK(count(server, "t WHERE v = 1") == 1);
}

void deadlock(PostgresServer& server, Connection& /*a*/, Connection& /*b*/) {
  auto c = server.connection();
  auto d = server.connection();
  std::future<Trouble> other;
  const auto trouble = run_around(
      *c, "UPDATE t SET v = 1 WHERE id = 1",
      [&] {
        other =
            run_async(*d, {"UPDATE t SET v = 2 WHERE id = 2", "UPDATE t SET v = 2 WHERE id = 1"});
        REQUIRE(until([&] { return count(server, "pg_locks WHERE NOT granted") > 0; }));
      },
      "UPDATE t SET v = 1 WHERE id = 2");
  const auto both = described(trouble) + " / " + described(other.get());
  CHECK_THAT(both, Catch::Contains("fail deadlock"));
  CHECK_THAT(both, Catch::Contains("ok"));
  CHECK(c->connected());
}

void constraint_violations(PostgresServer& server, Connection& a, Connection& /*b*/) {
  for (const char* statement :
       {"INSERT INTO t VALUES (1, 1)", "UPDATE t SET v = -1",
        "INSERT INTO unique_late VALUES (1), (1)"}) {  // the last one at COMMIT
    INFO(statement);
    CHECK_THAT(described(run(a, {statement})), StartsWith("fail constraint-violation"));
  }
  CHECK(count(server, "unique_late") == 0);
}

void cancelled_statement(PostgresServer& server, Connection& a, Connection& b) {
  auto sleeper = run_async(a, {"UPDATE t SET v = 9 WHERE id = 1", "SELECT pg_sleep(20)"});
  await_sleepers(server, 1);
  execute(server, kCancelOthers);
  CHECK_THAT(described(sleeper.get()), StartsWith("fail query-canceled"));
  CHECK_THAT(described(run(b, {"SET LOCAL statement_timeout = 50", "SELECT pg_sleep(20)"})),
             StartsWith("fail query-canceled"));
  CHECK(count(server, "t WHERE v = 9") == 0);
}

// An error in answer to COMMIT means rolled back.
void cancelled_commit(PostgresServer& server, Connection& a, Connection& /*b*/) {
  auto commit = run_async(a, {"INSERT INTO slow VALUES (4)"});
  await_commit(server);
  execute(server, kCancelOthers);
  CHECK_THAT(described(commit.get()), StartsWith("fail query-canceled"));
  CHECK(count(server, "slow") == 0);
}

void unavailable_lock(PostgresServer& /*server*/, Connection& a, Connection& b) {
  const auto trouble = run_around(
      a, "SELECT * FROM t FOR UPDATE",
      [&] {
        CHECK_THAT(described(run(b, {"SELECT * FROM t FOR UPDATE NOWAIT"})),
                   StartsWith("fail not-in-required-state"));
      },
      "");
  CHECK(described(trouble) == "ok");
}

// PostgreSQL calls it internal when two sessions change the same row of its catalog.
void internal_error(PostgresServer& server, Connection& a, Connection& b) {
  std::future<Trouble> other;
  const auto trouble = run_around(
      a, "GRANT SELECT ON t TO public",
      [&] {
        other = run_async(b, {"GRANT INSERT ON t TO public"});
        REQUIRE(until([&] { return count(server, "pg_locks WHERE NOT granted") > 0; }));
      },
      "");
  CHECK(described(trouble) == "ok");
  CHECK_THAT(described(other.get()), StartsWith("fail server-internal-error: tuple concurrently"));
}

void refusal_by_the_body(PostgresServer& server, Connection& a, Connection& /*b*/) {
  const auto trouble = a.transact({}, [](const Execute& exec) -> std::optional<std::string> {
    exec("UPDATE t SET v = 3");
    return "insufficient funds";
  });
  CHECK(described(trouble) == "fail insufficient funds");
  CHECK(count(server, "t WHERE v = 3") == 0);
}

// The server is content, the client is not.
void unexpected_result(PostgresServer& server, Connection& a, Connection& /*b*/) {
  const auto trouble = a.transact({}, [](const Execute& exec) -> std::optional<std::string> {
    exec("UPDATE t SET v = 6");
    sql::integer(exec("SELECT 'six'")[0][0]);
    return std::nullopt;
  });
  CHECK_THAT(described(trouble), StartsWith("fail client-error"));
  CHECK(described(run(a, {"SELECT 1"})) == "ok");  // rolls the transaction back
  CHECK(count(server, "t WHERE v = 6") == 0);
}

void dropped_table(PostgresServer& server, Connection& a, Connection& /*b*/) {
  execute(server, "CREATE TABLE dropped (v int)");
  CHECK(described(run(a, {"INSERT INTO dropped VALUES (1)"})) == "ok");
  execute(server, "DROP TABLE dropped");
  CHECK_THAT(described(run(a, {"INSERT INTO dropped VALUES (1)"})),
             StartsWith("fail syntax-or-access: relation"));
}

TEST_CASE("outcomes: errors reported by the server, the connection staying usable") {
  PostgresServer server(ServerSettings{{"settings.deadlock_timeout", "50ms"}});
  server.up();
  make_tables(server);
  auto a = server.connection("serializable");
  auto b = server.connection("serializable");
  for (const auto scenario :
       {serialization_failure_of_a_statement, serialization_failure_of_commit, deadlock,
        constraint_violations, cancelled_statement, cancelled_commit, unavailable_lock,
        internal_error, refusal_by_the_body, unexpected_result, dropped_table}) {
    reset_tables(server);
    scenario(server, *a, *b);
    for (auto* connection : {a.get(), b.get()}) {
      CHECK(connection->connected());
      CHECK(described(run(*connection, {"SELECT * FROM slow"})) == "ok");
    }
  }
}

}  // namespace
}  // namespace ordeal
