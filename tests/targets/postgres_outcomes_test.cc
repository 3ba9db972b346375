// The table of docs/outcomes-postgres.md itself. postgres_errors_test, postgres_error_classes_test,
// postgres_losses_test and postgres_deadlines_test provoke its classes on a real server.
#include <catch2/catch.hpp>
#include <pqxx/except>

#include "targets/postgres/outcomes.h"
#include "tests/targets/postgres_server.h"

namespace ordeal {
namespace {

using postgres::Connection;

TEST_CASE("outcomes: too many connections") {
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
  CHECK_THAT(refusal, Catch::Contains("too-many-connections: sorry, too many clients already"));
  CHECK(connections.size() == 5);
  // A server that serves others is ready.
  CHECK(server.target().await_ready(server.host(), std::chrono::seconds(2), {}));
}

TEST_CASE("outcomes: every rule is reachable, and none is more certain than it can be") {
  for (const auto& rule : postgres::outcome_rules()) {
    CHECK(&sql::outcome_rule(postgres::outcome_rules(), rule.code) == &rule);
    if (rule.before_commit == sql::Effect::info) {
      CHECK(rule.committing == sql::Effect::info);
    }
  }
  CHECK(sql::outcome_rule(postgres::outcome_rules(), "40002").name == "transaction-rollback");
  CHECK(sql::outcome_rule(postgres::outcome_rules(), "23505").name == "constraint-violation");
  CHECK(sql::outcome_rule(postgres::outcome_rules(), "99999").name == "other");
}

template <class Exception>
sql::Problem thrown(const Exception& exception) {
  try {
    throw exception;
  } catch (...) {
    return postgres::current_problem();
  }
}

TEST_CASE("outcomes: what libpqxx reports by the type of an exception") {
  CHECK(thrown(pqxx::in_doubt_error("?")).code == postgres::kInDoubt);
  CHECK(thrown(pqxx::statement_completion_unknown("?")).code == "40003");
  CHECK(thrown(pqxx::transaction_rollback("?")).code == "40000");
  CHECK(thrown(pqxx::sql_error("?", "", "XX001")).code == "XX001");
  CHECK(thrown(std::runtime_error("?")).code == sql::kClientBug);
  const auto outcome = [](std::string_view code, sql::Stage stage, bool lost) {
    const auto& rule = sql::outcome_rule(postgres::outcome_rules(), code);
    return sql::outcome_of(rule, {std::string(code), "?"}, stage, lost);
  };
  CHECK(
      std::holds_alternative<Info>(outcome(postgres::kInDoubt, sql::Stage::before_commit, false)));
  // A reported failure is no longer certain when the connection broke with it.
  CHECK(std::holds_alternative<Fail>(outcome("40001", sql::Stage::committing, false)));
  CHECK(std::holds_alternative<Info>(outcome("40001", sql::Stage::committing, true)));
}

}  // namespace
}  // namespace ordeal
