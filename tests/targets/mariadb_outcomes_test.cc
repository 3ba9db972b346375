// The table of docs/outcomes-mariadb.md: its classes, provoked on a real server.
#include <catch2/catch.hpp>
#include <thread>

#include "tests/targets/mariadb_server.h"
#include "tests/targets/transactions.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using Catch::Matchers::StartsWith;
using mariadb::Connection;

void make_tables(MariaDbServer& server) {
  server.execute(
      "CREATE OR REPLACE TABLE t (id bigint PRIMARY KEY, v bigint CHECK (v >= 0), c varchar(3));"
      "INSERT INTO t VALUES (1, 0, ''), (2, 0, '')");
}

std::string id_of(Connection& connection) { return query(connection, "SELECT CONNECTION_ID()"); }

void await_sleeper(MariaDbServer& server) {
  REQUIRE(until([&] {
    return server.count("information_schema.processlist WHERE info LIKE 'SELECT SLEEP%'") > 0;
  }));
}

// InnoDB does not look anew at what was asked for within the last tenth of a second.
void await_lock_wait(MariaDbServer& server) {
  REQUIRE(until([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    return server.count("information_schema.innodb_lock_waits") > 0;
  }));
}

struct Provocation {
  std::string statement;
  std::string name;  // of the rule
};

const std::vector<Provocation> kErrors = {
    {"INSERT INTO t VALUES (1, 0, '')", "constraint-violation"},
    {"UPDATE t SET v = -1", "constraint-violation"},
    {"INSERT INTO t VALUES (NULL, 0, '')", "constraint-violation"},
    {"UPDATE t SET c = 'long'", "data-exception"},
    {"SELECT 9223372036854775807 + id FROM t", "data-exception"},
    {"SELEKT", "syntax-or-access"},
    {"SELECT * FROM nowhere", "syntax-or-access"},
    {"SELECT nothing FROM t", "syntax-or-access"},
    {"BEGIN NOT ATOMIC SIGNAL SQLSTATE '45000'; END", "raised-by-procedure"},
    {"SET STATEMENT max_statement_time = 0.05 FOR SELECT SLEEP(20)", "statement-timeout"},
    {"SELECT * FROM t FOR UPDATE OF nowhere", "syntax-or-access"},
    {"SELECT EXTRACTVALUE('<a/>', '$$')", "other"},
};

TEST_CASE("mariadb outcomes: errors of statements undo the transaction, and leave it usable") {
  MariaDbServer server;
  server.up();
  make_tables(server);
  auto connection = server.connection("serializable");
  for (const auto& provocation : kErrors) {
    INFO(provocation.statement);
    CHECK_THAT(described(run(*connection, {"UPDATE t SET v = 8", provocation.statement})),
               StartsWith("fail " + provocation.name + ": "));
    CHECK(connection->connected());
    // Neither with the next transaction is it committed.
    CHECK(described(run(*connection, {"SELECT 1"})) == "ok");
    CHECK(server.count("t WHERE v = 8") == 0);
  }
  const auto refused = connection->transact({}, [](const Execute& execute) -> sql::Note {
    execute("UPDATE t SET v = 3");
    return "insufficient funds";
  });
  CHECK(described(refused) == "fail insufficient funds");
  const auto surprised = connection->transact({}, [](const Execute& execute) -> sql::Note {
    execute("UPDATE t SET v = 3");
    sql::integer(execute("SELECT 'six'")[0][0]);
    return std::nullopt;
  });
  CHECK_THAT(described(surprised), StartsWith("fail client-error"));
  CHECK(described(run(*connection, {"SELECT 1"})) == "ok");
  CHECK(server.count("t WHERE v = 3") == 0);
}

TEST_CASE("mariadb outcomes: what sessions do to each other") {
  MariaDbServer server;
  server.up();
  make_tables(server);
  auto a = server.connection();
  auto b = server.connection();
  SECTION("deadlock") {
    std::future<Trouble> other;
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1 WHERE id = 1",
        [&] {
          other =
              run_async(*b, {"UPDATE t SET v = 2 WHERE id = 2", "UPDATE t SET v = 2 WHERE id = 1"});
          await_lock_wait(server);
        },
        "UPDATE t SET v = 1 WHERE id = 2");
    const auto both = described(trouble) + " / " + described(other.get());
    CHECK_THAT(both, Catch::Contains("fail deadlock: ") && Catch::Contains("ok"));
  }
  SECTION("lock wait time-out, which undoes its statement alone") {
    REQUIRE(b->execute("SET innodb_lock_wait_timeout = 1", {}));
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 1 WHERE id = 1",
        [&] {
          CHECK_THAT(described(run(*b, {"UPDATE t SET v = 2 WHERE id = 2",
                                        "UPDATE t SET v = 2 WHERE id = 1"})),
                     StartsWith("fail lock-wait-timeout: "));
          CHECK(described(run(*b, {"SELECT 1"})) == "ok");
        },
        "");
    CHECK(described(trouble) == "ok");
    CHECK(server.count("t WHERE v = 2") == 0);
  }
  SECTION("a record that changed") {
    auto c = server.connection("repeatable-read");
    REQUIRE(c->execute("SET innodb_snapshot_isolation = ON", {}));
    const auto trouble = run_around(
        *c, "SELECT v FROM t", [&] { CHECK_FALSE(run(*b, {"UPDATE t SET v = 5 WHERE id = 1"})); },
        "UPDATE t SET v = 7 WHERE id = 1");
    CHECK_THAT(described(trouble), StartsWith("fail record-changed: "));
    CHECK(server.count("t WHERE v = 7") == 0);
  }
  SECTION("an interrupted statement") {
    const auto id = id_of(*a);
    auto sleeper = run_async(*a, {"UPDATE t SET v = 9", "SELECT SLEEP(20) FROM t"});
    await_sleeper(server);
    server.execute("KILL QUERY " + id);
    // Where SLEEP alone is interrupted, it returns 1 and no error.
    CHECK_THAT(described(sleeper.get()), StartsWith("fail query-interrupted"));
    CHECK(server.count("t WHERE v = 9") == 0);
  }
  SECTION("read-only transactions") {
    REQUIRE(a->execute("SET SESSION TRANSACTION READ ONLY", {}));
    CHECK_THAT(described(run(*a, {"UPDATE t SET v = 9"})), StartsWith("fail read-only"));
    REQUIRE(a->execute("SET SESSION TRANSACTION READ WRITE", {}));
  }
  for (auto* connection : {a.get(), b.get()}) {
    CHECK(connection->connected());
    CHECK(described(run(*connection, {"SELECT * FROM t"})) == "ok");
  }
}

void check_lost(Connection& connection) {
  CHECK_FALSE(connection.connected());
  CHECK_THAT(described(run(connection, {"SELECT 1"})), StartsWith("fail connection-lost"));
}

TEST_CASE("mariadb outcomes: the server ends a session") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "30s"}});
  server.up();
  make_tables(server);
  auto a = server.connection();
  const auto id = id_of(*a);
  SECTION("in a statement") {
    auto sleeper = run_async(*a, {"UPDATE t SET v = 9", "SELECT SLEEP(20) FROM t"});
    await_sleeper(server);
    server.execute("KILL " + id);
    CHECK_THAT(described(sleeper.get()), StartsWith("fail connection-"));
  }
  SECTION("between statements") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 9", [&] { server.execute("KILL " + id); }, "SELECT 1");
    CHECK_THAT(described(trouble), StartsWith("fail connection-"));
  }
  SECTION("before COMMIT, which the client cannot tell from after it") {
    const auto trouble = run_around(
        *a, "UPDATE t SET v = 9", [&] { server.execute("KILL " + id); }, "");
    CHECK_THAT(described(trouble), StartsWith("info connection-"));
  }
  SECTION("idle in a transaction") {
    REQUIRE(a->execute("SET idle_transaction_timeout = 1", {}));
    const auto gone = [&] {
      CHECK(until(
          [&] { return server.count("information_schema.processlist WHERE id = " + id) == 0; }));
    };
    CHECK_THAT(described(run_around(*a, "UPDATE t SET v = 9", gone, "SELECT 1")),
               StartsWith("fail connection-"));
  }
  CHECK(server.count("t WHERE v = 9") == 0);
  check_lost(*a);
}

TEST_CASE("mariadb outcomes: the server is killed, shuts down, is not there") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "30s"}});
  server.up();
  make_tables(server);
  const bool kill = GENERATE(true, false);
  auto a = server.connection();
  auto b = server.connection();
  auto sleeper = run_async(*a, {"UPDATE t SET v = 9 WHERE id = 1", "SELECT SLEEP(20) FROM t"});
  await_sleeper(server);
  const auto committing = run_around(
      *b, "UPDATE t SET v = 9 WHERE id = 2",
      [&] {
        if (kill) {
          server.control(server.server().kill);
        } else {
          REQUIRE(server.target().stop(server.host()));
        }
      },
      "");
  CHECK_THAT(described(sleeper.get()), StartsWith("fail "));
  CHECK_THAT(described(committing), StartsWith("info "));
  check_lost(*b);
  const auto refused = Connection::open(server.endpoint(), "serializable", {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().kind == ErrorKind::surroundings);
  CHECK_THAT(refused.error().message, StartsWith("n1: could not connect to MariaDB at 127."));
  REQUIRE(server.target().start(server.host(), {}));
  REQUIRE(server.target().await_ready(server.host(), 30s, {}));
  CHECK(server.count("t WHERE v = 9") == 0);
}

TEST_CASE("mariadb outcomes: a frozen server, and an operation longer than it may last") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "1s"}});
  server.up();
  make_tables(server);
  const auto freeze = [&] { server.control(server.server().pause); };
  const auto thaw = [&] { server.control(server.server().resume); };
  auto a = server.connection();
  CHECK_THAT(described(run_around(*a, "UPDATE t SET v = 1", freeze, "SELECT 1")),
             StartsWith("fail time-out: no answer within 1000 ms"));
  CHECK_FALSE(a->connected());
  const auto start = std::chrono::steady_clock::now();
  const auto connection = Connection::open(server.endpoint(), "serializable", {});
  REQUIRE_FALSE(connection);
  CHECK_THAT(connection.error().message, Catch::Contains("time-out"));
  CHECK(std::chrono::steady_clock::now() - start < 4s);
  thaw();
  a = server.connection();
  CHECK(server.count("t WHERE v = 1") == 0);
  // Unknown, and here it did happen.
  CHECK_THAT(described(run_around(*a, "UPDATE t SET v = 1", freeze, "")),
             StartsWith("info time-out"));
  thaw();
  CHECK(until([&] { return server.count("t WHERE v = 1") == 2; }));
  a = server.connection();
  CHECK_THAT(described(run(*a, {"SELECT SLEEP(20)"})), StartsWith("fail time-out"));
}

TEST_CASE("mariadb outcomes: a stop request ends an operation at once") {
  MariaDbServer server(ServerSettings{{"operation-timeout", "30s"}});
  server.up();
  auto a = server.connection();
  std::stop_source source;
  const auto start = std::chrono::steady_clock::now();
  std::jthread stopper([&] {
    std::this_thread::sleep_for(100ms);
    source.request_stop();
  });
  SECTION("in a statement") {
    const auto trouble = a->transact(source.get_token(), [](const Execute& execute) -> sql::Note {
      execute("SELECT SLEEP(20)");
      return std::nullopt;
    });
    CHECK_THAT(described(trouble), StartsWith("fail stopped"));
  }
  SECTION("connecting to a frozen server") {
    server.control(server.server().pause);
    const auto connection = Connection::open(server.endpoint(), "serializable", source.get_token());
    REQUIRE_FALSE(connection);
    CHECK(connection.error().kind == ErrorKind::stopped);
  }
  CHECK(std::chrono::steady_clock::now() - start < 10s);
}

TEST_CASE("mariadb outcomes: too many connections") {
  MariaDbServer server(ServerSettings{{"settings.max_connections", "10"}});
  server.up();
  std::vector<std::unique_ptr<Connection>> connections;
  std::string refusal;
  for (int i = 0; i < 14 && refusal.empty(); ++i) {
    auto connection = Connection::open(server.endpoint(), "serializable", {});
    if (connection) {
      connections.push_back(std::move(*connection));
    } else {
      refusal = connection.error().message;
    }
  }
  CHECK_THAT(refusal, Catch::Contains("too-many-connections: "));
  // A server that serves others is ready.
  CHECK(server.target().await_ready(server.host(), 2s, {}));
}

TEST_CASE("mariadb outcomes: every rule is reachable, and only a deadlock is certain at COMMIT") {
  for (const auto& rule : mariadb::outcome_rules()) {
    CHECK(&sql::outcome_rule(mariadb::outcome_rules(), rule.code) == &rule);
    CHECK(rule.before_commit == sql::Effect::fail);
    CHECK((rule.committing == sql::Effect::fail) == (rule.name == "deadlock"));
  }
  CHECK(sql::outcome_rule(mariadb::outcome_rules(), "1999").name == "other");
}

}  // namespace
}  // namespace ordeal
