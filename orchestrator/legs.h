// Which legs lead through the run's fault proxy: those that the campaign says, and those that a
// listed fault needs it for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "nemesis/nemesis.h"
#include "orchestrator/campaign.h"

namespace ordeal {

namespace proxy {
class Proxy;
}

// Before the target is installed. Listens on `control_address` (empty: the loopback device) for
// each path of these legs, has the target open its connections there, and notes it in `terrain`.
// nullptr where no leg needs it; then `seed` counts for nothing. bad_input where the campaign names
// a leg that is not there.
Result<std::unique_ptr<proxy::Proxy>> route_legs(const Campaign& campaign, Target& target,
                                                 Terrain& terrain,
                                                 const std::string& control_address,
                                                 std::uint64_t seed);

}  // namespace ordeal
