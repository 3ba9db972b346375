// Faults of the TCP fault proxy: toxics on the legs that lead through it (proxy/toxic.h), and legs
// that refuse or reset connections. They live in the run's own process, and end with it.
#pragma once

#include <vector>

#include "nemesis/nemesis.h"

namespace ordeal {

std::vector<FaultEntry> leg_toxic_faults();

}  // namespace ordeal
