#include "tests/targets/outcome_probe.h"

#include <catch2/catch.hpp>
#include <thread>

namespace ordeal {

using namespace std::chrono_literals;
using postgres::Connection;

const char* const kTerminateOthers =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "backend_type = 'client backend'";
const char* const kCancelOthers =
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "backend_type = 'client backend'";

std::string described(const Trouble& trouble) {
  if (!trouble) return "ok";
  if (const auto* fail = std::get_if<Fail>(&*trouble)) return "fail " + fail->note;
  if (const auto* info = std::get_if<Info>(&*trouble)) return "info " + info->note;
  return "ok payload";
}

Trouble run(Connection& connection, const std::vector<std::string>& statements) {
  return connection.transact({}, [&](const Execute& execute) -> std::optional<std::string> {
    for (const auto& statement : statements) execute(statement);
    return std::nullopt;
  });
}

std::future<Trouble> run_async(Connection& connection, std::vector<std::string> statements) {
  return std::async(std::launch::async, [&connection, statements = std::move(statements)] {
    return run(connection, statements);
  });
}

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
        number = sql::integer(exec("SELECT count(*) FROM " + condition)[0][0]);
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

void make_tables(PostgresServer& server) {
  execute(server,
          "CREATE TABLE t (id bigint PRIMARY KEY, v bigint CHECK (v >= 0));"
          "INSERT INTO t VALUES (1, 0), (2, 0);"
          "CREATE TABLE slow (v double precision);"
          "CREATE FUNCTION nap() RETURNS trigger LANGUAGE plpgsql AS "
          "$$ BEGIN PERFORM pg_sleep(NEW.v); RETURN NULL; END $$;"
          "CREATE CONSTRAINT TRIGGER nap AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED "
          "FOR EACH ROW EXECUTE FUNCTION nap();"
          "CREATE TABLE late (statement text);"
          "CREATE FUNCTION run_late() RETURNS trigger LANGUAGE plpgsql AS "
          "$$ BEGIN EXECUTE NEW.statement; RETURN NULL; END $$;"
          "CREATE CONSTRAINT TRIGGER run_late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED "
          "FOR EACH ROW EXECUTE FUNCTION run_late();"
          "CREATE TABLE unique_late (v int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
}

void reset_tables(PostgresServer& server) {
  execute(server, "TRUNCATE t, slow, late, unique_late; INSERT INTO t VALUES (1, 0), (2, 0)");
}

void await_sleepers(PostgresServer& server, int sessions) {
  REQUIRE(until(
      [&] { return count(server, "pg_stat_activity WHERE wait_event = 'PgSleep'") >= sessions; }));
}

void await_commit(PostgresServer& server) {
  REQUIRE(until([&] {
    return count(server, "pg_stat_activity WHERE wait_event = 'PgSleep' AND query = 'COMMIT'") > 0;
  }));
}

Surprised surprised_sessions(PostgresServer& server) {
  Surprised sessions{server.connection(), server.connection(), {}, {}};
  sessions.statement = run_async(*sessions.first, {"UPDATE t SET v = 1", "SELECT pg_sleep(20)"});
  sessions.commit = run_async(*sessions.second, {"INSERT INTO slow VALUES (20)"});
  await_commit(server);
  await_sleepers(server, 2);
  return sessions;
}

}  // namespace ordeal
