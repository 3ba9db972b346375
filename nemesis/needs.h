// Whether a fault can be done on a host; asked before a run starts, so that no run fails halfway
// for it.
#pragma once

#include <string_view>

#include "base/result.h"
#include "nemesis/nemesis.h"
#include "remote/host.h"

namespace ordeal {

// What it takes, in a few words: "a packet filter (iptables), root"; "" where it takes nothing.
std::string_view need_words(FaultNeed need);

bool need_met(FaultNeed need, const HostAbilities& abilities);

// bad_input where the need is not met: names the fault, the host, what is missing, and the
// alternatives.
Status check_need(const FaultEntry& fault, const Host& host);

}  // namespace ordeal
