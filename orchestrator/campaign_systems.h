// The sections `target:`, `systems:` and `clients:` of a campaign: which systems run on which
// hosts, in which order they start, and which of them the clients talk to. See docs/systems.md.
#pragma once

#include <yaml-cpp/yaml.h>

#include "base/result.h"
#include "orchestrator/campaign.h"
#include "orchestrator/campaign_yaml.h"

namespace ordeal {

// Either section `target:`, for one system on all hosts, or `systems:`; each system comes after
// those that it needs.
Result<std::vector<System>> read_systems(const Origin& origin, const YAML::Node& root,
                                         const Hosts& hosts, std::span<const TargetEntry> targets);

// Clients of the campaign's workload, which their systems' targets have to know.
Result<Clients> read_clients(const Origin& origin, const YAML::Node& section,
                             const std::vector<System>& systems, const WorkloadEntry& workload);

}  // namespace ordeal
