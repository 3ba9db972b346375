// The campaign's faults on the terrain of the system under test: what can be struck, what was
// planned, and what a written schedule says.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "nemesis/schedule.h"
#include "orchestrator/campaign.h"
#include "orchestrator/vacuity.h"

namespace ordeal {

Terrain terrain_of(const Target& target);
std::vector<FaultChoice> fault_choices(const Campaign& campaign);

// bad_input where a fault finds nothing to strike (a partition of hosts where there is one), or a
// setting names a leg, a role or a fault that is not there.
Status check_faults(const Campaign& campaign, const Terrain& terrain);

// Of the campaign's list and of its written steps, and where each is named first.
struct FaultInUse {
  const FaultEntry* entry;
  std::string where;
};
std::vector<FaultInUse> faults_in_use(const Campaign& campaign);
// bad_input where a fault in use has a need that a host does not meet.
Status check_needs(const Campaign& campaign, const Cluster& cluster);
// bad_input where a fault cannot be planned as it is written or set, or a host says that it cannot
// do what is planned.
Status check_plans(const Campaign& campaign, const Battlefield& battlefield, const Cluster& cluster,
                   std::stop_token stop);

// Drawn by the seed, or as written in the campaign.
Result<std::vector<ScheduledFault>> schedule_of(const Campaign& campaign, std::uint64_t seed,
                                                const Terrain& terrain);
// Names of the faults that the schedule must bring about, and of the legs they must reach.
Planned planned_faults(const Campaign& campaign, const Terrain& terrain,
                       const std::vector<ScheduledFault>& schedule);

// The schedule in the form that `ordeal run --schedule` reads.
std::string schedule_yaml(const std::vector<ScheduledFault>& schedule);

}  // namespace ordeal
