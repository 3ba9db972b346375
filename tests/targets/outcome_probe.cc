#include "tests/targets/outcome_probe.h"

#include <catch2/catch.hpp>

namespace ordeal {

const char* const kTerminateOthers =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "backend_type = 'client backend'";
const char* const kCancelOthers =
    "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
    "backend_type = 'client backend'";

void execute(PostgresServer& server, const std::string& sql) {
  const auto done = server.connection()->execute(sql, {});
  if (!done) FAIL(done.error().message);
}

std::int64_t count(PostgresServer& server, const std::string& condition) {
  return sql::integer(query(*server.connection(), "SELECT count(*) FROM " + condition));
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
