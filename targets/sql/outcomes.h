// What became of a transaction that met an error: each system's table from its error codes to fail
// (certainly did not happen) and info (may have happened), and how such tables are read.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "targets/client.h"

namespace ordeal::sql {

// How far a transaction had come when the error was met.
enum class Stage {
  before_commit,  // COMMIT was not sent: the server has nothing that it could commit
  committing,     // COMMIT was sent, and its answer did not arrive or was the error
};

enum class Effect { fail, info };

struct OutcomeRule {
  std::string_view code;  // beginning of the system's code, or one of the codes below
  std::string_view name;  // begins the note of the outcome
  Effect before_commit;
  Effect committing;
};

// Errors that have no code of the system's, since no server reported them.
inline constexpr std::string_view kConnectionLost = "lost";
inline constexpr std::string_view kTimedOut = "timeout";
inline constexpr std::string_view kStopped = "stopped";
inline constexpr std::string_view kClientBug = "client";  // an exception of another kind

// The rule with the longest matching code; the last rule matches everything.
const OutcomeRule& outcome_rule(std::span<const OutcomeRule> rules, std::string_view code);

struct Problem {
  std::string code;  // the system's, or one of the codes above
  std::string message;
};

// `connection_lost`: the connection broke with the error. At the commit stage this means info
// whatever the error says: the last words of a session may follow a successful COMMIT whose answer
// they overtook.
Outcome outcome_of(const OutcomeRule& rule, const Problem& problem, Stage stage,
                   bool connection_lost);

}  // namespace ordeal::sql
