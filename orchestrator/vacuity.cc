#include "orchestrator/vacuity.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

namespace ordeal {
namespace {

struct Interval {
  std::int64_t from;  // ns, included
  std::int64_t to;    // excluded
};

bool any_ok(const History& history, const Interval& interval) {
  return std::any_of(history.events().begin(), history.events().end(), [&](const Event& event) {
    return event.phase == Phase::ok && event.process != kNemesis &&
           event.time_ns >= interval.from && event.time_ns < interval.to;
  });
}

struct Happened {
  std::set<std::string> faults;
  std::set<std::string> legs;
};

// A fault's completion carries a note where it failed (nemesis/engine.h).
Happened injected(const History& history, Interval& faults) {
  Happened happened;
  for (Position position = 0; position < history.size(); ++position) {
    const Event& event = history.event(position);
    if (event.kind != PayloadKind::fault || event.phase == Phase::invoke) continue;
    faults.to = std::max(faults.to, event.time_ns);
    const auto& fault = std::get<FaultEvent>(history.payload(event));
    if (fault.action != FaultAction::inject || !history.note(position).empty()) continue;
    faults.from = std::min(faults.from, event.time_ns);
    happened.faults.insert(fault.fault);
    happened.legs.insert(fault.legs.begin(), fault.legs.end());
  }
  return happened;
}

// From the marks; a run that was killed has no end mark, and one without marks is all chaos.
Interval chaos_of(const History& history) {
  Interval chaos{0, history.size() == 0 ? 0 : history.events().back().time_ns + 1};
  for (const Event& event : history.events()) {
    if (event.process != kNemesis) continue;
    if (history.function(event) == kStartChaos) chaos.from = event.time_ns;
    if (history.function(event) == kStopChaos) chaos.to = event.time_ns;
  }
  return chaos;
}

}  // namespace

std::vector<std::string> find_vacuity(const History& history,
                                      const std::vector<std::string>& planned_faults,
                                      const std::vector<std::string>& planned_legs) {
  constexpr auto kEver = std::numeric_limits<std::int64_t>::max();
  if (!any_ok(history, {0, kEver})) return {"no client operation completed ok"};

  std::vector<std::string> findings;
  const Interval chaos = chaos_of(history);
  const std::int64_t middle = chaos.from + (chaos.to - chaos.from) / 2;
  if (!any_ok(history, {chaos.from, middle})) {
    findings.push_back("nothing completed ok in the first half of chaos");
  }
  if (!any_ok(history, {middle, chaos.to})) {
    findings.push_back("nothing completed ok in the second half of chaos");
  }
  Interval faults{kEver, 0};
  const Happened happened = injected(history, faults);
  for (const auto& name : planned_faults) {
    if (happened.faults.count(name) != 0) continue;
    findings.push_back(fmt::format("fault {} never happened", name));
  }
  for (const auto& name : planned_legs) {
    if (happened.legs.count(name) != 0) continue;
    findings.push_back(fmt::format("no fault reached leg {}", name));
  }
  if (happened.faults.empty()) return findings;
  if (!any_ok(history, {chaos.from, faults.from})) {
    findings.push_back("nothing completed ok before the first fault");
  }
  if (!any_ok(history, faults)) {
    findings.push_back("nothing completed ok between the first fault and the last heal");
  }
  return findings;
}

}  // namespace ordeal
