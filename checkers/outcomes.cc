#include "checkers/outcomes.h"

namespace ordeal {
namespace {

// Visits each client operation once, at its completion or, lacking one, at its invocation.
template <class Visit>
void for_each_outcome(const History& history, Visit&& visit) {
  for (const Event& event : history.events()) {
    const bool pending = event.phase == Phase::invoke;
    if (event.process == kNemesis || (pending && event.partner != kNoPosition)) continue;
    visit(event, pending ? Phase::info : event.phase);
  }
}

void count(OutcomeCounts& counts, Phase phase) {
  if (phase == Phase::ok) ++counts.ok;
  if (phase == Phase::fail) ++counts.fail;
  if (phase == Phase::info) ++counts.info;
}

}  // namespace

OutcomeCounts count_outcomes(const History& history) {
  OutcomeCounts counts;
  for_each_outcome(history, [&](const Event&, Phase phase) { count(counts, phase); });
  return counts;
}

std::map<std::string, OutcomeCounts> count_outcomes_by_function(const History& history) {
  std::map<std::string, OutcomeCounts> counts;
  for_each_outcome(history, [&](const Event& event, Phase phase) {
    count(counts[std::string(history.function(event))], phase);
  });
  return counts;
}

}  // namespace ordeal
