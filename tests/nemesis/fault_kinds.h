// What the tests may expect of a fault of the catalogue.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

// Whether it is there until it is undone.
inline bool lasts(const FaultEntry& entry) { return entry.name != "restart"; }

// Whether clients get no answer, or a wrong one, while the fault is there; others merely slow them
// down, or harm what the servers of the tests have no need of.
inline bool is_outage(const FaultEntry& entry) {
  const bool paces =
      entry.name == "packet-loss" || entry.need == FaultNeed::tbf || entry.need == FaultNeed::netem;
  return lasts(entry) && !paces;
}

}  // namespace ordeal
