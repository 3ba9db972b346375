#include "nemesis/plan.h"

#include <utility>

namespace ordeal {

Command command(std::vector<std::string> arguments) {
  Command result;
  result.arguments = std::move(arguments);
  return result;
}

Result<const Host*> find_host(const Fault& fault, const Battlefield& battlefield,
                              const std::string& name) {
  for (const Host* host : battlefield.hosts) {
    if (host->name() == name) return host;
  }
  return internal_error("fault {} names host {}, which is not in this run", fault.name, name);
}

Result<FaultPlan> plan_per_server(const Fault& fault, const Battlefield& battlefield,
                                  std::string detail,
                                  const std::function<Command(const ServerControl&)>& inject,
                                  const std::function<Command(const ServerControl&)>& undo) {
  FaultPlan plan{.detail = std::move(detail), .inject = {}, .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const ServerControl control = battlefield.server(*host);
    plan.inject.push_back({name, {inject(control)}});
    plan.undo.push_back({name, {undo(control)}});
  }
  return plan;
}

}  // namespace ordeal
