// Sessions that end in the middle of a transaction, provoked on a real PostgreSQL.
#include <signal.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <pqxx/connection>
#include <pqxx/nontransaction>

#include "tests/targets/outcome_probe.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;
using postgres::Connection;

// No operation may time out before its session is ended, on a busy machine either.
const ServerSettings kPatient = {{"operation-timeout", "30s"}};

void await_no_sessions(PostgresServer& server) {
  CHECK(until([&] {
    return count(server,
                 "pg_stat_activity WHERE backend_type = 'client backend' AND "
                 "pid <> pg_backend_pid()") == 0;
  }));
}

void check_lost(Connection& connection) {
  CHECK_FALSE(connection.connected());
  CHECK_THAT(described(run(connection, {"SELECT 1"})), StartsWith("fail"));
}

void signal_postmaster(PostgresServer& server, int signal) {
  pid_t postmaster = 0;
  std::ifstream(server.directory() / "postgres" / "data" / "postmaster.pid") >> postmaster;
  REQUIRE(postmaster > 1);
  REQUIRE(::kill(postmaster, signal) == 0);
}

void terminated_before_commit(PostgresServer& server) {
  auto a = server.connection();
  const auto trouble = run_around(
      *a, "UPDATE t SET v = 1", [&] { execute(server, kTerminateOthers); }, "SELECT 1");
  CHECK_THAT(described(trouble), StartsWith("fail admin-shutdown: terminating connection"));
  CHECK(count(server, "t WHERE v = 1") == 0);
  check_lost(*a);
}

// Between the last statement and COMMIT, which the client cannot tell from after COMMIT.
void terminated_around_commit(PostgresServer& server) {
  auto a = server.connection();
  const auto trouble = run_around(
      *a, "UPDATE t SET v = 1", [&] { execute(server, kTerminateOthers); }, "");
  CHECK_THAT(described(trouble), StartsWith("info"));
  check_lost(*a);
}

void terminated_during_commit(PostgresServer& server) {
  auto a = server.connection();
  auto commit = run_async(*a, {"INSERT INTO slow VALUES (4)"});
  await_commit(server);
  execute(server, kTerminateOthers);
  CHECK_THAT(described(commit.get()), StartsWith("info admin-shutdown"));
  check_lost(*a);
}

void terminated_while_idle(PostgresServer& server) {
  auto a = server.connection();
  execute(server, kTerminateOthers);
  CHECK_THAT(described(run(*a, {"UPDATE t SET v = 1"})), StartsWith("fail"));
  CHECK(count(server, "t WHERE v = 1") == 0);
  check_lost(*a);
}

void idle_session(PostgresServer& server) {
  auto a = server.connection();
  REQUIRE(a->execute("SET idle_session_timeout = 50", {}));
  await_no_sessions(server);
  CHECK_THAT(described(run(*a, {"UPDATE t SET v = 1"})), StartsWith("fail idle-session-timeout"));
  check_lost(*a);
}

void idle_transaction(PostgresServer& server) {
  const std::string impatient = "SET LOCAL idle_in_transaction_session_timeout = 50";
  const auto idle = [&] { await_no_sessions(server); };
  auto a = server.connection();
  CHECK_THAT(described(run_around(*a, impatient, idle, "UPDATE t SET v = 1")),
             StartsWith("fail invalid-transaction-state: terminating connection"));
  check_lost(*a);
  // Here the client cannot know whether it met COMMIT or went before it.
  auto b = server.connection();
  CHECK_THAT(described(run_around(*b, impatient, idle, "")),
             StartsWith("info invalid-transaction-state: terminating connection"));
  check_lost(*b);
}

// The last scenario: there is no database afterwards.
void dropped_database(PostgresServer& server) {
  const auto drop = [&] {
    pqxx::connection other("hostaddr=127.0.0.1 port=" + std::to_string(server.port()) +
                           " user=postgres dbname=template1");
    pqxx::nontransaction(other).exec("DROP DATABASE postgres WITH (FORCE)");
  };
  auto a = server.connection();
  CHECK_THAT(described(run_around(*a, "UPDATE t SET v = 1", drop, "SELECT 1")),
             StartsWith("fail admin-shutdown: terminating connection"));
  check_lost(*a);
  const auto refused = Connection::open(server.endpoint(), "serializable", "", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::surroundings);
  CHECK_THAT(refused.error().message, Catch::Contains("does not exist"));
}

TEST_CASE("outcomes: the server ends a session") {
  PostgresServer server(kPatient);
  server.up();
  make_tables(server);
  for (const auto scenario :
       {terminated_before_commit, terminated_around_commit, terminated_during_commit,
        terminated_while_idle, idle_session, idle_transaction, dropped_database}) {
    reset_tables(server);
    scenario(server);
  }
}

// The reason (57P02, 57P01) comes as a warning, and the end of the connection is all there is of an
// error.
TEST_CASE("outcomes: a backend crashes, then the server shuts down at once") {
  PostgresServer server(kPatient);
  server.up();
  make_tables(server);
  {
    auto sessions = surprised_sessions(server);
    auto victim = server.connection();
    pid_t backend = 0;
    CHECK_FALSE(victim->transact({}, [&](const Execute& exec) -> std::optional<std::string> {
      backend = static_cast<pid_t>(sql::integer(exec("SELECT pg_backend_pid()")[0][0]));
      return std::nullopt;
    }));
    REQUIRE(backend > 1);
    REQUIRE(::kill(backend, SIGKILL) == 0);
    CHECK_THAT(described(sessions.statement.get()), StartsWith("fail connection-lost"));
    CHECK_THAT(described(sessions.commit.get()), StartsWith("info connection-lost"));
  }
  REQUIRE(server.target().await_ready(server.host(), 30s, {}));
  CHECK(count(server, "slow") == 0);
  auto sessions = surprised_sessions(server);
  signal_postmaster(server, SIGQUIT);
  CHECK_THAT(described(sessions.statement.get()), StartsWith("fail connection-lost"));
  CHECK_THAT(described(sessions.commit.get()), StartsWith("info connection-lost"));
}

TEST_CASE("outcomes: the server is killed") {
  PostgresServer server(kPatient);
  server.up();
  make_tables(server);
  auto sessions = surprised_sessions(server);
  server.control(server.server().kill);
  CHECK_THAT(described(sessions.statement.get()), StartsWith("fail connection-lost"));
  CHECK_THAT(described(sessions.commit.get()), StartsWith("info connection-lost"));
  const auto refused = Connection::open(server.endpoint(), "serializable", "", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::surroundings);
  CHECK_THAT(refused.error().message, Catch::Contains("n1") && Catch::Contains("refused"));
}

TEST_CASE("outcomes: the server shuts down, first turning away new sessions") {
  PostgresServer server(kPatient);
  server.up();
  make_tables(server);
  auto sessions = surprised_sessions(server);
  signal_postmaster(server, SIGTERM);  // "smart": waits for sessions to end
  std::string refusal;
  CHECK(until([&] {
    const auto connection = Connection::open(server.endpoint(), "serializable", "", {});
    if (!connection) refusal = connection.error().message;
    return !connection;
  }));
  CHECK_THAT(refusal, Catch::Contains("the database system is shutting down"));
  REQUIRE(server.target().stop(server.host()));
  CHECK_THAT(described(sessions.statement.get()), StartsWith("fail admin-shutdown"));
  CHECK_THAT(described(sessions.commit.get()), StartsWith("info admin-shutdown"));
}

}  // namespace
}  // namespace ordeal
