// Faults of whole machines, which lose what they had not yet written to their disks. In the end the
// machine boots from the same disks, and its server is started.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry power_cut_fault();
FaultEntry kernel_panic_fault();

}  // namespace ordeal
