// The vacuity check: did the run test anything? A run in which nothing committed, or in which the
// planned faults never happened, is unknown, whatever the checkers say of its history.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/header.h"
#include "history/history.h"

namespace ordeal {

// Functions of the events by which process kNemesis marks the chaos phase in a run's history.
inline constexpr std::string_view kStartChaos = "start-chaos";
inline constexpr std::string_view kStopChaos = "stop-chaos";

// What a run must bring about: an injection with effect of each of `faults`, and on each of `legs`
// (names).
struct Planned {
  std::vector<std::string> faults;
  std::vector<std::string> legs;
  // When, since chaos began, each has its first turn in the schedule; one that was not drawn has
  // none. nullopt where that is not known.
  std::optional<std::map<std::string, std::chrono::milliseconds>> turns{};
  std::vector<std::string> both{};  // of the faults: that must be seen in both directions of legs
};

// As facts in the header of a run's history, so that it can be judged from the file alone.
void add_facts(const Planned& planned, HistoryHeader& header);
Planned planned_of(const HistoryHeader& header);

// Findings, each a sentence; empty when the run was not vacuous. Looks for client operations that
// completed ok: at all, in both halves of chaos, before the first fault, and between the first
// fault's injection and the last one's end; and for what was planned, of which it says why it did
// not happen.
std::vector<std::string> find_vacuity(const History& history, const Planned& planned);

}  // namespace ordeal
