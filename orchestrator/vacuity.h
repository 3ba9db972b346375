// The vacuity check: did the run test anything? A run in which nothing committed, or in which the
// planned faults never happened, is unknown, whatever the checkers say of its history.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "history/history.h"

namespace ordeal {

// Functions of the events by which process kNemesis marks the chaos phase in a run's history.
inline constexpr std::string_view kStartChaos = "start-chaos";
inline constexpr std::string_view kStopChaos = "stop-chaos";

// Findings, each a sentence; empty when the run was not vacuous. Looks for client operations that
// completed ok: at all, in both halves of chaos, before the first fault, and between the first
// fault's injection and the last one's end; and for an injection with effect of each of `faults`
// and on each of `legs` (names).
std::vector<std::string> find_vacuity(const History& history,
                                      const std::vector<std::string>& faults,
                                      const std::vector<std::string>& legs);

}  // namespace ordeal
