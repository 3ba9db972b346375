#include "targets/sql/outcomes.h"

#include <fmt/format.h>

#include <utility>

namespace ordeal::sql {

const OutcomeRule& outcome_rule(std::span<const OutcomeRule> rules, std::string_view code) {
  const OutcomeRule* best = &rules.back();
  for (const auto& rule : rules) {
    if (code.starts_with(rule.code) && rule.code.size() > best->code.size()) best = &rule;
  }
  return *best;
}

Outcome outcome_of(const OutcomeRule& rule, const Problem& problem, Stage stage,
                   bool connection_lost) {
  std::string note = fmt::format("{}: {}", rule.name, problem.message);
  if (stage == Stage::before_commit && rule.before_commit == Effect::fail) {
    return Fail{std::move(note)};
  }
  if (stage == Stage::committing && rule.committing == Effect::fail && !connection_lost) {
    return Fail{std::move(note)};
  }
  return Info{std::move(note)};
}

}  // namespace ordeal::sql
