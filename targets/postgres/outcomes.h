// What became of a transaction that met an error: the one table from PostgreSQL's error classes to
// fail (certainly did not happen) and info (may have happened). docs/outcomes-postgres.md prints
// and argues it; a test provokes every class on a real server.
//
// SQLSTATE codes: PostgreSQL manual, appendix A.
#pragma once

#include <span>
#include <string_view>

#include "targets/sql/outcomes.h"

namespace ordeal::postgres {

inline constexpr std::string_view kInDoubt = "doubt";             // libpqxx could not tell
inline constexpr std::string_view kTooManyConnections = "53300";  // a SQLSTATE

// Their codes are beginnings of SQLSTATEs.
std::span<const sql::OutcomeRule> outcome_rules();

// Describes the exception being handled; call inside a catch block only.
sql::Problem current_problem();

// From the text of an error as libpq prints it with verbosity "verbose", e.g. "FATAL:  57P01:
// terminating connection ...". Text of another form is of a lost connection.
sql::Problem server_problem(std::string_view text);

}  // namespace ordeal::postgres
