// Provokes each class of errors both in a statement and at COMMIT, on a real PostgreSQL.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "tests/targets/outcome_probe.h"

namespace ordeal {
namespace {

using Catch::Matchers::StartsWith;
using postgres::Connection;

struct Provocation {
  std::string statement;
  std::string name;                // of the rule
  std::string at_commit = "fail";  // before COMMIT it is always a fail
};

// Causes of the server's own.
const std::vector<Provocation> kErrors = {
    {"SELECT 1 / 0", "data-exception"},
    {"SELEKT", "syntax-or-access"},
    {"SELECT * FROM nowhere", "syntax-or-access"},
    {"SELECT count(*) FROM t FOR UPDATE", "not-supported"},
    {"DO $$ BEGIN RAISE 'no'; END $$", "raised-by-procedure"},
    {"SELECT repeat('x', 2000000000)", "limit-exceeded"},
    // The sort does not fit into its memory, nor into the temporary files allowed.
    {"DO $$ BEGIN SET LOCAL work_mem = '64kB'; SET LOCAL temp_file_limit = '64kB'; "
     "PERFORM g FROM generate_series(1, 100000) g ORDER BY g DESC; END $$",
     "insufficient-resources"},
    {"DO $$ BEGIN SET LOCAL transaction_read_only = on; UPDATE t SET v = 1; END $$",
     "invalid-transaction-state"},
    {"SELECT pg_read_file('nowhere')", "system-error", "info"},
    {"CREATE TABLE nowhere.t (v int)", "other", "info"},
};

// Codes whose true causes a test cannot arrange: the server is told to raise them.
Provocation raised(const std::string& code, const std::string& name, const std::string& at_commit) {
  return {"DO $$ BEGIN RAISE 'told to' USING ERRCODE = '" + code + "'; END $$", name, at_commit};
}

const std::vector<Provocation> kRaised = {
    raised("40002", "transaction-rollback", "fail"),
    raised("57P02", "crash-shutdown", "info"),
    raised("57P03", "cannot-connect-now", "info"),
    raised("57P04", "database-dropped", "info"),
    raised("57P05", "idle-session-timeout", "info"),
    raised("57000", "operator-intervention", "info"),
    raised("53300", "too-many-connections", "info"),
    raised("08006", "connection-exception", "info"),
    raised("XX001", "server-internal-error", "info"),
};

void provoke(PostgresServer& server, Connection& connection, const Provocation& provocation) {
  INFO(provocation.statement);
  const std::string expected = provocation.name + ": ";
  CHECK_THAT(described(run(connection, {"UPDATE t SET v = 8", provocation.statement})),
             StartsWith("fail " + expected));
  const std::string late = "INSERT INTO late VALUES ($late$" + provocation.statement + "$late$)";
  CHECK_THAT(described(run(connection, {"UPDATE t SET v = 8", late})),
             StartsWith(provocation.at_commit + " " + expected));
  CHECK(count(server, "t WHERE v = 8") == 0);
  CHECK(described(run(connection, {"SELECT 1"})) == "ok");
}

TEST_CASE("outcomes: the same error in answer to a statement and to COMMIT") {
  PostgresServer server;
  server.up();
  make_tables(server);
  auto connection = server.connection();
  for (const auto& provocation : kErrors) provoke(server, *connection, provocation);
  for (const auto& provocation : kRaised) provoke(server, *connection, provocation);
  // The one class that is unknown even before COMMIT.
  const auto unknown = raised("40003", "", "").statement;
  CHECK_THAT(described(run(*connection, {unknown})),
             StartsWith("info statement-completion-unknown"));
}

std::filesystem::path file_of(PostgresServer& server, const std::string& table) {
  std::string path;
  CHECK_FALSE(server.connection()->transact({}, [&](const Execute& exec) {
    path = exec("SELECT pg_relation_filepath('" + table + "')")[0][0];
    return std::optional<std::string>();
  }));
  REQUIRE_FALSE(path.empty());
  return server.directory() / "postgres" / "data" / path;
}

void overwrite_beginning(const std::filesystem::path& file) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream << std::string(64, '!');
  REQUIRE(stream.flush());
}

TEST_CASE("outcomes: damaged and missing files of tables") {
  PostgresServer server;
  server.up();
  make_tables(server);
  execute(server,
          "CREATE TABLE damaged (v int); INSERT INTO damaged VALUES (1);"
          "CREATE TABLE missing (v int); INSERT INTO missing VALUES (1)");
  const auto damaged = file_of(server, "damaged");
  const auto missing = file_of(server, "missing");
  REQUIRE(server.target().stop(server.host()));  // what it has in memory would hide the damage
  overwrite_beginning(damaged);
  REQUIRE(std::filesystem::remove(missing));
  REQUIRE(server.target().start(server.host(), {}));
  REQUIRE(server.target().await_ready(server.host(), std::chrono::seconds(30), {}));
  auto connection = server.connection();
  provoke(server, *connection,
          {"INSERT INTO t SELECT v FROM damaged", "server-internal-error", "info"});
  provoke(server, *connection, {"INSERT INTO t SELECT v FROM missing", "system-error", "info"});
}

}  // namespace
}  // namespace ordeal
