// Faults `pause` (SIGSTOP, SIGCONT) and `kill` (SIGKILL, restart) of the database's processes.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry pause_fault();
FaultEntry kill_fault();

}  // namespace ordeal
