// Faults of the file system that holds a server's files, and of the server's way to it.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

// Fills it up by one file. Refuses where that would take more than `max-size`, as on the big file
// system of a whole machine.
FaultEntry disk_full_fault();
// Makes it read-only, under a server that starts anew. Refuses where it holds more than the
// servers' files.
FaultEntry disk_readonly_fault();
// Lets the server's calls for its disk take longer (disk_slow.cc).
FaultEntry disk_slow_fault();

}  // namespace ordeal
