#include "orchestrator/vacuity.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <limits>

#include "base/options.h"

namespace ordeal {
namespace {

constexpr const char* kFactFaults = "planned-faults";  // "partition, kill"
constexpr const char* kFactLegs = "planned-legs";      // "client-db"
constexpr const char* kFactBoth = "planned-both";      // "latency"
constexpr const char* kFactTurns = "first-turns";      // "client-db 3s, kill 12500ms"

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

// Of one fault, or of one leg.
struct Tries {
  bool succeeded = false;
  bool open = false;  // the last injection did not end
  std::size_t failed = 0;
  std::string last_failure;  // "latency: it has no effect: ..."
  std::string direction;     // of legs, in which there was an effect
};

struct Injections {
  std::map<std::string, Tries> of;  // by name of the fault or leg
  bool any_succeeded = false;
};

void count(Tries& tries, const FaultEvent& fault, Phase phase, std::string_view note) {
  tries.open = phase == Phase::invoke;
  if (tries.open) return;
  tries.succeeded = tries.succeeded || note.empty();
  if (note.empty()) {
    const bool told = !fault.seen_direction.empty();
    tries.direction =
        both_directions(tries.direction, told ? fault.seen_direction : fault.direction);
    return;
  }
  ++tries.failed;
  constexpr std::string_view kFailed = "failed: ";  // as the engine begins it
  if (note.starts_with(kFailed)) note.remove_prefix(kFailed.size());
  tries.last_failure = fmt::format("{}: {}", fault.fault, note);
}

// A fault's completion carries a note where it failed (nemesis/engine.h).
Injections injections(const History& history, Interval& faults) {
  Injections injections;
  for (Position position = 0; position < history.size(); ++position) {
    const Event& event = history.event(position);
    if (event.kind != PayloadKind::fault) continue;
    const bool completes = event.phase != Phase::invoke;
    if (completes) faults.to = std::max(faults.to, event.time_ns);
    const auto& fault = std::get<FaultEvent>(history.payload(event));
    const std::string_view note = history.note(position);
    if (fault.action != FaultAction::inject) {
      // What it did after it was first seen.
      std::string& direction = injections.of[fault.fault].direction;
      if (note.empty()) direction = both_directions(direction, fault.seen_direction);
      continue;
    }
    if (completes && note.empty()) {
      faults.from = std::min(faults.from, event.time_ns);
      injections.any_succeeded = true;
    }
    count(injections.of[fault.fault], fault, event.phase, note);
    for (const std::string& leg : fault.legs) {
      count(injections.of[leg], fault, event.phase, note);
    }
  }
  return injections;
}

// Why nothing of that name succeeded; "" where that is not known.
std::string reason(const std::string& name, const Tries& tries, const Planned& planned,
                   const Interval& chaos) {
  if (tries.failed != 0) {
    return fmt::format(
        ": {} failed, the last one, {}",
        tries.failed == 1 ? "1 injection" : fmt::format("{} injections", tries.failed),
        tries.last_failure);
  }
  if (tries.open) return ": the run ended before its effect was seen";
  if (!planned.turns) return "";
  const auto turn = planned.turns->find(name);
  if (turn == planned.turns->end()) return ": it was not drawn";
  const auto length = std::chrono::milliseconds((chaos.to - chaos.from) / 1'000'000);
  const std::string at = format_duration(turn->second);
  if (turn->second >= length) {
    return fmt::format(": the run ended first: its turn was at {}, and chaos ended at {}", at,
                       format_duration(length));
  }
  return fmt::format(": its turn, at {}, did not come: what was before took longer than planned",
                     at);
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

void add_facts(const Planned& planned, HistoryHeader& header) {
  header.facts[kFactFaults] = fmt::format("{}", fmt::join(planned.faults, ", "));
  header.facts[kFactLegs] = fmt::format("{}", fmt::join(planned.legs, ", "));
  if (!planned.both.empty()) {
    header.facts[kFactBoth] = fmt::format("{}", fmt::join(planned.both, ", "));
  }
  if (!planned.turns) return;
  std::vector<std::string> turns;
  for (const auto& [name, time] : *planned.turns) {
    turns.push_back(fmt::format("{} {}", name, format_duration(time)));
  }
  header.facts[kFactTurns] = fmt::format("{}", fmt::join(turns, ", "));
}

Planned planned_of(const HistoryHeader& header) {
  const auto listed = [&](const char* fact) {
    std::vector<std::string> names;
    const auto found = header.facts.find(fact);
    if (found == header.facts.end()) return names;
    boost::split(names, found->second, boost::is_any_of(","));
    for (std::string& name : names) boost::trim(name);
    std::erase(names, "");
    return names;
  };
  Planned planned{
      .faults = listed(kFactFaults), .legs = listed(kFactLegs), .both = listed(kFactBoth)};
  if (header.facts.count(kFactTurns) == 0) return planned;
  planned.turns.emplace();
  for (const std::string& turn : listed(kFactTurns)) {
    const std::size_t blank = turn.find(' ');
    const auto time = parse_duration(blank == std::string::npos ? "" : turn.substr(blank + 1));
    if (time) planned.turns->emplace(turn.substr(0, blank), *time);
  }
  return planned;
}

std::vector<std::string> find_vacuity(const History& history, const Planned& planned) {
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
  Injections injected = injections(history, faults);
  const auto demand = [&](const std::vector<std::string>& names, const std::string& before,
                          const std::string& after) {
    for (const std::string& name : names) {
      const Tries& tries = injected.of[name];
      if (tries.succeeded) continue;
      findings.push_back(before + name + after + reason(name, tries, planned, chaos));
    }
  };
  demand(planned.faults, "fault ", " never happened");
  demand(planned.legs, "no fault reached leg ", "");
  for (const std::string& name : planned.both) {
    const Tries& tries = injected.of[name];
    if (!tries.succeeded || tries.direction == "both") continue;
    findings.push_back(
        fmt::format("fault {} is to strike both directions, and had an effect {} alone", name,
                    tries.direction));
  }
  if (!injected.any_succeeded) return findings;
  if (!any_ok(history, {chaos.from, faults.from})) {
    findings.push_back("nothing completed ok before the first fault");
  }
  if (!any_ok(history, faults)) {
    findings.push_back("nothing completed ok between the first fault and the last heal");
  }
  return findings;
}

}  // namespace ordeal
