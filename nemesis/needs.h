// Whether a fault can be done on a host; asked before a run starts, so that no run fails halfway
// for it.
#pragma once

#include "base/result.h"
#include "nemesis/nemesis.h"
#include "remote/host.h"

namespace ordeal {

bool need_met(FaultNeed need, const HostAbilities& abilities);

// bad_input where the need is not met: names the fault, the host, what is missing, and the
// alternatives.
Status check_need(const FaultEntry& fault, const Host& host);

}  // namespace ordeal
