#include "targets/etcd/outcomes.h"

#include <fmt/format.h>

#include <array>

namespace ordeal::etcd {
namespace {

// never_proposed: the member said no before it handed the request to Raft, or Raft handed it back
// (processInternalRaftRequestOnce in etcdserver/v3_server.go; checks of requests in
// etcdserver/api/v3rpc/key.go).
constexpr std::array kRules = std::to_array<OutcomeRule>({
    {"etcdserver: too many requests", "too-many-requests", true},
    {"etcdserver: request is too large", "request-too-large", true},
    {"etcdserver: too many operations in txn request", "too-many-operations", true},
    {"etcdserver: duplicate key given in txn request", "duplicate-key", true},
    {"etcdserver: key is not provided", "no-key", true},
    {"etcdserver: no leader", "no-leader", true},
    {"etcdserver: rpc not supported for learner", "learner", true},
    {"raft proposal dropped", "proposal-dropped", true},
    // The write that exceeds the quota is applied, and answered with this error all the same
    // (quotaApplierV3 in etcdserver/apply.go).
    {"etcdserver: mvcc: database space exceeded", "no-space", false},
    {"etcdserver: request timed out", "request-timed-out", false},
    {"etcdserver: leader changed", "leader-changed", false},
    {"etcdserver: server stopped", "server-stopped", false},
    {"etcdserver: corrupt cluster", "corrupt-cluster", false},
    {"context deadline exceeded", "deadline-exceeded", false},
    {"context canceled", "canceled", false},
    {kConnectionRefused, "connection-refused", false},  // never sent, which decides
    {kConnectionLost, "connection-lost", false},
    {kTimedOut, "time-out", false},
    {kStopped, "stopped", false},
    {kUnexpected, "unexpected-answer", false},
    {"", "other", false},
});

std::string_view code_of(HttpFailure::Cause cause) {
  switch (cause) {
    case HttpFailure::Cause::refused:
      return kConnectionRefused;
    case HttpFailure::Cause::time_out:
      return kTimedOut;
    case HttpFailure::Cause::stop:
      return kStopped;
    case HttpFailure::Cause::lost:
      break;
  }
  return kConnectionLost;
}

}  // namespace

std::span<const OutcomeRule> outcome_rules() { return kRules; }

const OutcomeRule& outcome_rule(std::string_view message) {
  const OutcomeRule* best = &kRules.back();
  for (const OutcomeRule& rule : kRules) {
    if (message.starts_with(rule.message) && rule.message.size() > best->message.size()) {
      best = &rule;
    }
  }
  return *best;
}

Problem problem_of(const HttpFailure& failure) {
  return {std::string(code_of(failure.cause)), failure.message, failure.sent};
}

Outcome outcome_of(const Problem& problem, Effect effect) {
  const OutcomeRule& rule = outcome_rule(problem.code);
  std::string note = fmt::format("{}: {}", rule.name, problem.message);
  const bool nothing = effect == Effect::none || !problem.sent || rule.never_proposed;
  if (nothing) return Fail{std::move(note)};
  return Info{std::move(note)};
}

}  // namespace ordeal::etcd
