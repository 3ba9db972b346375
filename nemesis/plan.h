// Helpers that plans share.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nemesis/nemesis.h"

namespace ordeal {

Command command(std::vector<std::string> arguments);

// Fails with `internal` where the fault names a host that is not on the battlefield.
Result<const Host*> find_host(const Fault& fault, const Battlefield& battlefield,
                              const std::string& name);

// A plan for faults that strike each server by one command and undo it by another.
Result<FaultPlan> plan_per_server(const Fault& fault, const Battlefield& battlefield,
                                  std::string detail,
                                  const std::function<Command(const ServerControl&)>& inject,
                                  const std::function<Command(const ServerControl&)>& undo);

}  // namespace ordeal
