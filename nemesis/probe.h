// Asking hosts whether things are as they should be: after a fault and after its undo.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "nemesis/nemesis.h"

namespace ordeal {

// Runs the probes (FaultPlan::effect, healed) on all hosts at once, and those that failed again
// and again until they succeed or `within` is over. kControlNode is this machine, unless a host of
// the cluster has that name. What they saw last, host by host: "n1:
// processes are stopped". The error names the hosts that did not see it. A probe that is running at
// the `cutoff` is ended, and has seen nothing; it may outlast `within`.
Result<std::string> probe(
    const std::vector<HostCommands>& probes, const Cluster& cluster,
    std::chrono::milliseconds within, std::stop_token stop,
    std::chrono::steady_clock::time_point cutoff = std::chrono::steady_clock::time_point::max());

}  // namespace ordeal
