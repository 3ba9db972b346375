// Faults of the file system that holds a server's files.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

// Fills it up by one file. Refuses where that would take more than `max-size`, as on the big file
// system of a whole machine.
FaultEntry disk_full_fault();
// Makes it read-only, under a server that starts anew. Refuses where it holds more than the
// servers' files.
FaultEntry disk_readonly_fault();

}  // namespace ordeal
