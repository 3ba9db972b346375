#include "targets/postgres/outcomes.h"

#include <array>
#include <exception>
#include <pqxx/except>

namespace ordeal::postgres {
namespace {

using sql::kClientBug;
using sql::kConnectionLost;
using sql::Problem;
using enum sql::Effect;

// An error of severity ERROR in answer to COMMIT means that the transaction was rolled back: once
// the commit record is written PostgreSQL can no longer report one (it would panic).
constexpr std::array kRules = std::to_array<sql::OutcomeRule>({
    {"40001", "serialization-failure", fail, fail},
    {"40P01", "deadlock", fail, fail},
    {"40003", "statement-completion-unknown", info, info},
    {"40", "transaction-rollback", fail, fail},
    {"23", "constraint-violation", fail, fail},
    {"57014", "query-canceled", fail, fail},
    {"57P01", "admin-shutdown", fail, info},
    {"57P02", "crash-shutdown", fail, info},
    {"57P03", "cannot-connect-now", fail, info},
    {"57P04", "database-dropped", fail, info},
    {"57P05", "idle-session-timeout", fail, info},
    {"57", "operator-intervention", fail, info},
    {kTooManyConnections, "too-many-connections", fail, info},
    {"53", "insufficient-resources", fail, fail},
    {"54", "limit-exceeded", fail, fail},
    {"55", "not-in-required-state", fail, fail},
    {"25", "invalid-transaction-state", fail, fail},
    {"22", "data-exception", fail, fail},
    {"42", "syntax-or-access", fail, fail},
    {"0A", "not-supported", fail, fail},
    {"P0", "raised-by-procedure", fail, fail},
    {"08", "connection-exception", fail, info},
    {"58", "system-error", fail, info},
    {"XX", "server-internal-error", fail, info},
    {kConnectionLost, "connection-lost", fail, info},
    {sql::kTimedOut, "time-out", fail, info},
    {sql::kStopped, "stopped", fail, info},
    {kInDoubt, "in-doubt", info, info},
    {kClientBug, "client-error", fail, info},
    {"", "other", fail, info},
});

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

Problem problem(std::string_view code, const std::exception& error) {
  return {std::string(code), server_problem(error.what()).message};
}

}  // namespace

std::span<const sql::OutcomeRule> outcome_rules() { return kRules; }

sql::Problem server_problem(std::string_view text) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  constexpr std::size_t kCodeSize = 5;
  const auto colon = text.find(":  ");
  const auto code = colon == std::string_view::npos ? "" : text.substr(colon + 3, kCodeSize);
  const auto end = colon + 3 + kCodeSize;
  if (code.size() == kCodeSize && code.find_first_not_of(kLetters) == std::string_view::npos &&
      text.substr(end, 2) == ": ") {
    return {std::string(code), first_line(text.substr(end + 2))};
  }
  return {std::string(kConnectionLost), first_line(text)};
}

// libpqxx 6.4 reports some classes by type alone. Order matters: statement_completion_unknown
// derives from transaction_rollback, too_many_connections from broken_connection.
sql::Problem current_problem() {
  try {
    throw;
  } catch (const pqxx::in_doubt_error& error) {
    return problem(kInDoubt, error);
  } catch (const pqxx::statement_completion_unknown& error) {
    return problem("40003", error);
  } catch (const pqxx::serialization_failure& error) {
    return problem("40001", error);
  } catch (const pqxx::deadlock_detected& error) {
    return problem("40P01", error);
  } catch (const pqxx::transaction_rollback& error) {
    return problem("40000", error);
  } catch (const pqxx::too_many_connections& error) {
    return problem("53300", error);
  } catch (const pqxx::broken_connection& error) {
    return problem(kConnectionLost, error);
  } catch (const pqxx::sql_error& error) {
    return problem(error.sqlstate().empty() ? kConnectionLost : error.sqlstate(), error);
  } catch (const std::exception& error) {
    return problem(kClientBug, error);
  }
}

}  // namespace ordeal::postgres
