// Faults of the server's processes.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry pause_fault();
FaultEntry kill_fault();
FaultEntry stop_fault();
FaultEntry restart_fault();

}  // namespace ordeal
