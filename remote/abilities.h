// What a host can do, found by asking it: for hosts of an inventory, of which nothing else is
// known.
#pragma once

#include "remote/host.h"

namespace ordeal {

// Leaves nothing behind on the host. Fails where the host cannot be reached.
Result<HostAbilities> probe_abilities(Host& host, std::stop_token stop = {});

}  // namespace ordeal
