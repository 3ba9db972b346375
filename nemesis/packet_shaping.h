// Faults of a leg's pace and quality (tc): bandwidth-limit needs tbf in the kernel of the hosts,
// the others netem.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry bandwidth_limit_fault();
FaultEntry packet_delay_fault();
FaultEntry packet_reorder_fault();
FaultEntry packet_duplicate_fault();
FaultEntry packet_corrupt_fault();

}  // namespace ordeal
