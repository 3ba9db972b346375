// What became of a transaction that met an error: the one table from PostgreSQL's error classes to
// fail (certainly did not happen) and info (may have happened). docs/outcomes-postgres.md prints
// and argues it; a test provokes every class on a real server.
//
// SQLSTATE codes: PostgreSQL manual, appendix A.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "targets/client.h"

namespace ordeal::postgres {

// How far a transaction had come when the error was met.
enum class Stage {
  before_commit,  // COMMIT was not sent: the server has nothing that it could commit
  committing,     // COMMIT was sent, and its answer did not arrive or was the error
};

enum class Effect { fail, info };

struct OutcomeRule {
  std::string_view code;  // beginning of the SQLSTATE, or one of the codes below
  std::string_view name;  // begins the note of the outcome
  Effect before_commit;
  Effect committing;
};

// Errors that have no SQLSTATE, since no server reported them.
inline constexpr std::string_view kConnectionLost = "lost";
inline constexpr std::string_view kTimedOut = "timeout";
inline constexpr std::string_view kStopped = "stopped";
inline constexpr std::string_view kInDoubt = "doubt";     // libpqxx could not tell
inline constexpr std::string_view kClientBug = "client";  // an exception of another kind

inline constexpr std::string_view kTooManyConnections = "53300";  // a SQLSTATE

std::span<const OutcomeRule> outcome_rules();
// The rule with the longest matching code; the last rule matches everything.
const OutcomeRule& outcome_rule(std::string_view code);

struct Problem {
  std::string code;  // SQLSTATE or one of the codes above
  std::string message;
};

// Describes the exception being handled; call inside a catch block only.
Problem current_problem();

// From the text of an error as libpq prints it with verbosity "verbose", e.g. "FATAL:  57P01:
// terminating connection ...". Text of another form is of a lost connection.
Problem server_problem(std::string_view text);

// `connection_lost`: the connection broke with the error. At the commit stage this means info
// whatever the error says: a FATAL may follow a successful COMMIT whose answer it overtook.
Outcome outcome_of(const Problem& problem, Stage stage, bool connection_lost);

}  // namespace ordeal::postgres
