// What the tests may expect of a fault of the catalogue.
#pragma once

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>

#include "nemesis/nemesis.h"

namespace ordeal {

// Whether it is there until it is undone.
inline bool lasts(const FaultEntry& entry) { return entry.name != "restart"; }

// Whether clients get no answer, or a wrong one, while the fault is there; others merely slow them
// down, or harm what the servers of the tests have no need of.
inline bool is_outage(const FaultEntry& entry) {
  constexpr std::string_view gentle[] = {"packet-loss", "clock-strobe", "clock-drift", "disk-full",
                                         "disk-slow"};
  const bool paces = entry.need == FaultNeed::tbf || entry.need == FaultNeed::netem;
  return lasts(entry) && !paces &&
         std::find(std::begin(gentle), std::end(gentle), entry.name) == std::end(gentle);
}

// How long its effect may take to be seen, in which no watchdog must undo it.
inline std::chrono::seconds time_to_see(const FaultEntry& entry) {
  const bool slow = entry.name == "clock-strobe" || entry.name == "clock-drift";
  return std::chrono::seconds(slow ? 8 : 2);
}

}  // namespace ordeal
