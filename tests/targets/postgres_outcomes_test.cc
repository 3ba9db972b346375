// Provokes every class of docs/outcomes-postgres.md on a real server.
#include <catch2/catch.hpp>
#include <future>
#include <optional>
#include <pqxx/except>
#include <pqxx/result>
#include <thread>

#include "targets/postgres/outcomes.h"
#include "tests/targets/postgres_server.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using postgres::Connection;
using Execute = Connection::Execute;
using Trouble = std::optional<Outcome>;

// Describes an outcome so that a failed test says what came instead.
std::string described(const Trouble& trouble) {
  if (!trouble) return "ok";
  if (const auto* fail = std::get_if<Fail>(&*trouble)) return "fail " + fail->note;
  if (const auto* info = std::get_if<Info>(&*trouble)) return "info " + info->note;
  return "ok payload";
}

Catch::Matchers::StdString::StartsWithMatcher begins(const std::string& text) {
  return Catch::Matchers::StartsWith(text);
}

Trouble run(Connection& connection, const std::vector<std::string>& statements) {
  return connection.transact({}, [&](const Execute& execute) -> std::optional<std::string> {
    for (const auto& statement : statements) execute(statement);
    return std::nullopt;
  });
}

// Same, in another thread.
std::future<Trouble> run_async(Connection& connection, std::vector<std::string> statements) {
  return std::async(std::launch::async, [&connection, statements = std::move(statements)] {
    return run(connection, statements);
  });
}

// Runs `statements` and, in the middle of the transaction, `between`.
Trouble run_around(Connection& connection, const std::string& before,
                   const std::function<void()>& between, const std::string& after) {
  return connection.transact({}, [&](const Execute& execute) -> std::optional<std::string> {
    execute(before);
    between();
    if (!after.empty()) execute(after);
    return std::nullopt;
  });
}

void execute(PostgresServer& server, const std::string& sql) {
  const auto done = server.connection()->execute(sql, {});
  if (!done) FAIL(done.error().message);
}

std::int64_t count(PostgresServer& server, const std::string& condition) {
  std::int64_t number = -1;
  const auto trouble =
      server.connection()->transact({}, [&](const Execute& exec) -> std::optional<std::string> {
        number = exec("SELECT count(*) FROM " + condition)[0][0].as<std::int64_t>();
        return std::nullopt;
      });
  CHECK(described(trouble) == "ok");
  return number;
}

bool until(const std::function<bool()>& condition) {
  for (int i = 0; i < 200; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(25ms);
  }
  return false;
}

// Waits until a session is inside COMMIT: its deferred trigger sleeps.
void await_commit(PostgresServer& server) {
  REQUIRE(until([&] {
    return count(server, "pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'COMMIT'") > 0;
  }));
}

// t: plain rows. slow: a deferred trigger makes COMMIT last v seconds.
void make_tables(PostgresServer& server) {
  execute(server,
          "CREATE TABLE t (id bigint PRIMARY KEY, v bigint CHECK (v >= 0));"
          "INSERT INTO t VALUES (1, 0), (2, 0);"
          "CREATE TABLE slow (v double precision);"
          "CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS "
          "$$ BEGIN PERFORM pg_sleep(NEW.v); RETURN NULL; END $$;"
          "CREATE CONSTRAINT TRIGGER nap AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED "
          "FOR EACH ROW EXECUTE FUNCTION nap();"
          "CREATE TABLE unique_late (v int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
}

const char* const kTerminate =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "backend_type = 'client backend'";
const char* const kCancel =
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "backend_type = 'client backend'";

TEST_CASE("outcomes: errors reported by the server, the connection staying usable") {
  PostgresServer server(ServerSettings{{"settings.deadlock_timeout", "50ms"}});
  server.up();
  make_tables(server);
  auto a = server.connection("serializable");
  auto b = server.connection("serializable");

  SECTION("serialization failure of a statement") {
    const auto trouble = run_around(
        *a, "SELECT * FROM t", [&] { CHECK_FALSE(run(*b, {"UPDATE t SET v = 5 WHERE id = 1"})); },
        "UPDATE t SET v = 7 WHERE id = 1");
    CHECK_THAT(described(trouble), begins("fail serialization-failure"));
    CHECK(count(server, "t WHERE v = 7") == 0);
  }
  SECTION("serialization failure of COMMIT: write skew") {
    Trouble inner;
    const auto outer = run_around(
        *a, "SELECT sum(v) FROM t",
        [&] {
          inner = run_around(
              *b, "SELECT sum(v) FROM t", [&] {}, "UPDATE t SET v = 1 WHERE id = 2");
        },
        "UPDATE t SET v = 1 WHERE id = 1");
    CHECK(described(inner) == "ok");
    CHECK_THAT(described(outer), begins("fail serialization-failure"));
    CHECK(count(server, "t WHERE v = 1") == 1);
  }
  SECTION("deadlock") {
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
  SECTION("unique and check violation, at the statement and at COMMIT") {
    CHECK_THAT(described(run(*a, {"INSERT INTO t VALUES (1, 1)"})),
               begins("fail constraint-violation"));
    CHECK_THAT(described(run(*a, {"UPDATE t SET v = -1"})), begins("fail constraint-violation"));
    CHECK_THAT(described(run(*a, {"INSERT INTO unique_late VALUES (1), (1)"})),
               begins("fail constraint-violation"));
    CHECK(count(server, "unique_late") == 0);
  }
  SECTION("query cancelled before COMMIT, by a session and by a time-out") {
    auto sleeper = run_async(*a, {"UPDATE t SET v = 9 WHERE id = 1", "SELECT pg_sleep(20)"});
    REQUIRE(
        until([&] { return count(server, "pg_stat_activity WHERE wait_event = 'PgSleep'") > 0; }));
    execute(server, kCancel);
    CHECK_THAT(described(sleeper.get()), begins("fail query-canceled"));
    CHECK_THAT(described(run(*b, {"SET LOCAL statement_timeout = 50", "SELECT pg_sleep(20)"})),
               begins("fail query-canceled"));
    CHECK(count(server, "t WHERE v = 9") == 0);
  }
  SECTION("COMMIT cancelled: an error in answer to COMMIT means rolled back") {
    auto commit = run_async(*a, {"INSERT INTO slow VALUES (4)"});
    await_commit(server);
    execute(server, kCancel);
    CHECK_THAT(described(commit.get()), begins("fail query-canceled"));
    CHECK(count(server, "slow") == 0);
  }
  SECTION("other errors of statements") {
    CHECK_THAT(described(run(*a, {"SELECT 1 / 0"})), begins("fail data-exception"));
    CHECK_THAT(described(run(*a, {"SELEKT"})), begins("fail syntax-or-access"));
    CHECK_THAT(described(run(*a, {"SELECT * FROM nowhere"})), begins("fail syntax-or-access"));
    CHECK_THAT(described(run(*a, {"SET TRANSACTION READ ONLY", "UPDATE t SET v = 1"})),
               begins("fail invalid-transaction-state"));
    CHECK_THAT(described(run(*a, {"DO $$ BEGIN RAISE 'no'; END $$"})),
               begins("fail raised-by-procedure"));
    CHECK_THAT(described(run(*a, {"SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
                                  "SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT"})),
               begins("ok"));
    CHECK_THAT(described(run(*a, {"SELECT repeat('x', 2000000000) || repeat('x', 2000000000)"})),
               begins("fail"));
  }
  SECTION("a lock that is not available") {
    const auto trouble = run_around(
        *a, "SELECT * FROM t FOR UPDATE",
        [&] {
          CHECK_THAT(described(run(*b, {"SELECT * FROM t FOR UPDATE NOWAIT"})),
                     begins("fail not-in-required-state"));
        },
        "");
    CHECK(described(trouble) == "ok");
  }
  SECTION("the body's own refusal rolls back") {
    const auto trouble = a->transact({}, [](const Execute& exec) -> std::optional<std::string> {
      exec("UPDATE t SET v = 3");
      return "insufficient funds";
    });
    CHECK(described(trouble) == "fail insufficient funds");
    CHECK(count(server, "t WHERE v = 3") == 0);
  }
  for (auto* connection : {a.get(), b.get()}) {
    CHECK(connection->connected());
    CHECK(described(run(*connection, {"SELECT * FROM slow"})) == "ok");
  }
}

TEST_CASE("outcomes: the backend is terminated") {
  PostgresServer server;
  server.up();
  make_tables(server);
  auto a = server.connection();
  SECTION("before COMMIT") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1", [&] { execute(server, kTerminate); }, "SELECT 1");
    CHECK_THAT(described(trouble), begins("fail admin-shutdown: terminating connection"));
    CHECK(count(server, "t WHERE v = 1") == 0);
  }
  SECTION("between the last statement and COMMIT") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1", [&] { execute(server, kTerminate); }, "");
    CHECK_THAT(described(trouble), begins("info"));
  }
  SECTION("during COMMIT") {
    auto commit = run_async(*a, {"INSERT INTO slow VALUES (4)"});
    await_commit(server);
    execute(server, kTerminate);
    CHECK_THAT(described(commit.get()), begins("info admin-shutdown"));
  }
  SECTION("while idle: the next transaction fails for sure") {
    execute(server, kTerminate);
    CHECK_THAT(described(run(*a, {"UPDATE t SET v = 1"})), begins("fail"));
    CHECK(count(server, "t WHERE v = 1") == 0);
  }
  CHECK_FALSE(a->connected());
  CHECK_THAT(described(run(*a, {"SELECT 1"})), begins("fail"));
}

TEST_CASE("outcomes: a frozen server") {
  PostgresServer server(ServerSettings{{"operation-timeout", "500ms"}});
  server.up();
  make_tables(server);
  auto a = server.connection();
  SECTION("before COMMIT is sent") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1", [&] { server.control(server.server().pause); }, "SELECT 1");
    CHECK_THAT(described(trouble), begins("fail time-out: no answer within 500 ms"));
    server.control(server.server().resume);
    CHECK(count(server, "t WHERE v = 1") == 0);
  }
  SECTION("around COMMIT: unknown, and here it did happen") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1", [&] { server.control(server.server().pause); }, "");
    CHECK_THAT(described(trouble), begins("info time-out"));
    server.control(server.server().resume);
    CHECK(until([&] { return count(server, "t WHERE v = 1") == 2; }));
  }
  SECTION("COMMIT that lasts longer than the operation may") {
    CHECK_THAT(described(run(*a, {"INSERT INTO slow VALUES (2)"})), begins("info time-out"));
  }
  SECTION("connecting") {
    server.control(server.server().pause);
    const auto start = std::chrono::steady_clock::now();
    const auto connection = Connection::open(server.endpoint(), "serializable", "", {});
    REQUIRE_FALSE(connection);
    CHECK_THAT(connection.error().message, Catch::Contains("time-out"));
    CHECK(std::chrono::steady_clock::now() - start < 2s);
    server.control(server.server().resume);
    server.connection();
    return;
  }
  CHECK_FALSE(a->connected());
}

TEST_CASE("outcomes: a stop request ends an operation at once") {
  PostgresServer server(ServerSettings{{"operation-timeout", "30s"}});
  server.up();
  make_tables(server);
  auto a = server.connection();
  std::stop_source source;
  const auto start = std::chrono::steady_clock::now();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    source.request_stop();
  });
  SECTION("in a statement") {
    const auto trouble =
        a->transact(source.get_token(), [](const Execute& exec) -> std::optional<std::string> {
          exec("SELECT pg_sleep(20)");
          return std::nullopt;
        });
    CHECK_THAT(described(trouble), begins("fail stopped"));
  }
  SECTION("in COMMIT") {
    const auto trouble =
        a->transact(source.get_token(), [](const Execute& exec) -> std::optional<std::string> {
          exec("INSERT INTO slow VALUES (5)");
          return std::nullopt;
        });
    CHECK_THAT(described(trouble), begins("info stopped"));
  }
  SECTION("connecting to a frozen server") {
    server.control(server.server().pause);
    const auto connection =
        Connection::open(server.endpoint(), "serializable", "", source.get_token());
    REQUIRE_FALSE(connection);
    CHECK(connection.error().kind == ErrorKind::stopped);
  }
  CHECK(std::chrono::steady_clock::now() - start < 5s);
}

TEST_CASE("outcomes: the server is killed") {
  PostgresServer server;
  server.up();
  make_tables(server);
  auto a = server.connection();
  SECTION("during COMMIT") {
    auto commit = run_async(*a, {"INSERT INTO slow VALUES (4)"});
    await_commit(server);
    server.control(server.server().kill);
    CHECK_THAT(described(commit.get()), begins("info connection-lost"));
  }
  SECTION("before COMMIT") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1", [&] { server.control(server.server().kill); }, "SELECT 1");
    CHECK_THAT(described(trouble), begins("fail connection-lost"));
  }
  const auto refused = Connection::open(server.endpoint(), "serializable", "", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::surroundings);
  CHECK_THAT(refused.error().message, Catch::Contains("n1") && Catch::Contains("refused"));
}

TEST_CASE("outcomes: the server shuts down") {
  PostgresServer server;
  server.up();
  make_tables(server);
  auto a = server.connection();
  auto commit = run_async(*a, {"INSERT INTO slow VALUES (6)"});
  await_commit(server);
  auto b = server.connection();
  std::future<Trouble> statement = run_async(*b, {"UPDATE t SET v = 1", "SELECT pg_sleep(20)"});
  REQUIRE(
      until([&] { return count(server, "pg_stat_activity WHERE wait_event = 'PgSleep'") > 1; }));
  REQUIRE(server.target().stop(server.host()));
  CHECK_THAT(described(statement.get()), begins("fail admin-shutdown"));
  CHECK_THAT(described(commit.get()), begins("info admin-shutdown"));
}

TEST_CASE("outcomes: too many connections, and a server that is not ready yet") {
  PostgresServer server(ServerSettings{{"settings.max_connections", "5"},
                                       {"settings.superuser_reserved_connections", "1"}});
  server.up();
  std::vector<std::unique_ptr<Connection>> connections;
  std::string refusal;
  for (int i = 0; i < 8 && refusal.empty(); ++i) {
    auto connection = Connection::open(server.endpoint(), "serializable", "", {});
    if (connection) {
      connections.push_back(std::move(*connection));
    } else {
      refusal = connection.error().message;
    }
  }
  CHECK_THAT(refusal, Catch::Contains("too many clients"));
  CHECK(connections.size() == 5);
}

TEST_CASE("outcomes: every rule is reachable, and none is more certain than it can be") {
  for (const auto& rule : postgres::outcome_rules()) {
    CHECK(&postgres::outcome_rule(rule.code) == &rule);
    if (rule.before_commit == postgres::Effect::info) {
      CHECK(rule.committing == postgres::Effect::info);
    }
  }
  CHECK(postgres::outcome_rule("40002").name == "transaction-rollback");
  CHECK(postgres::outcome_rule("23505").name == "constraint-violation");
  CHECK(postgres::outcome_rule("99999").name == "other");
}

template <class Exception>
postgres::Problem thrown(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return postgres::current_problem();
  }
}

TEST_CASE("outcomes: the classes that no PostgreSQL 15 can be made to raise") {
  CHECK(thrown(pqxx::in_doubt_error("?")).code == postgres::kInDoubt);
  CHECK(thrown(pqxx::statement_completion_unknown("?")).code == "40003");
  CHECK(thrown(pqxx::transaction_rollback("?")).code == "40000");
  CHECK(thrown(pqxx::sql_error("?", "", "XX001")).code == "XX001");
  CHECK(thrown(std::runtime_error("?")).code == postgres::kClientBug);
  const auto doubt = postgres::outcome_of({std::string(postgres::kInDoubt), "?"},
                                          postgres::Stage::before_commit, false);
  CHECK(std::holds_alternative<Info>(doubt));
  // A reported failure is no longer certain when the connection broke with it.
  const auto lost = postgres::outcome_of({"40001", "?"}, postgres::Stage::committing, true);
  CHECK(std::holds_alternative<Info>(lost));
}

}  // namespace
}  // namespace ordeal
