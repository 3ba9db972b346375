// Faults that drop packets (iptables): of a leg, or between hosts in one of the shapes of
// nemesis/grudge.h.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry partition_fault();
FaultEntry partition_hosts_fault();

}  // namespace ordeal
