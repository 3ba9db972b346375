// What became of a request that met an error: the one table from etcd's errors to fail (certainly
// did not happen) and info (may have happened). docs/outcomes-etcd.md prints and argues it; a test
// provokes errors on real servers.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "targets/client.h"
#include "targets/etcd/http.h"

namespace ordeal::etcd {

// What the request would have done.
enum class Effect {
  none,   // it reads: nothing could have happened
  write,  // the server may have proposed it, from the first byte on
};

struct OutcomeRule {
  std::string_view message;  // beginning of etcd's message, or one of those below
  std::string_view name;     // begins the note of the outcome
  bool never_proposed;       // a write that meets it certainly does not happen
};

// Errors that no server reported.
inline constexpr std::string_view kConnectionRefused = "refused";
inline constexpr std::string_view kConnectionLost = "lost";
inline constexpr std::string_view kTimedOut = "time-out";
inline constexpr std::string_view kStopped = "stop";
inline constexpr std::string_view kUnexpected = "unexpected";  // an answer that is not etcd's

std::span<const OutcomeRule> outcome_rules();
// The rule with the longest matching message; the last rule matches everything.
const OutcomeRule& outcome_rule(std::string_view message);

struct Problem {
  std::string code;  // etcd's message or one of the above
  std::string message;
  bool sent = true;  // whether the server may have received the request
};

Problem problem_of(const HttpFailure& failure);

Outcome outcome_of(const Problem& problem, Effect effect);

}  // namespace ordeal::etcd
