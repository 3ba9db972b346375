#include "nemesis/leg_packets.h"

#include <fmt/format.h>

#include "nemesis/plan.h"

namespace ordeal {
namespace {

bool is_clients(const Path& path) { return path.from == kControlNode; }

Result<std::string> address_of(const Fault& fault, const Battlefield& battlefield,
                               const std::string& host) {
  if (host != kControlNode) {
    ORDEAL_TRY_ASSIGN(const Host* found, find_host(fault, battlefield, host));
    return found->spec().address;
  }
  if (!battlefield.control_address.empty()) return battlefield.control_address;
  return internal_error("fault {}: the address of the control node is not known", fault.name);
}

Result<LegEnd> end_of(const Fault& fault, const Battlefield& battlefield, const Path& path) {
  if (!path.listener.empty() && !is_clients(path)) {
    return LegEnd{path.from, battlefield.control_address, path.listener_port, false};
  }
  ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, path.to));
  ORDEAL_TRY_ASSIGN(std::string peer, address_of(fault, battlefield, path.from));
  if (path.port <= 0 || path.port == host->spec().ssh_port) {
    return internal_error("fault {}: port {} of {} cannot be cut, since SSH needs it", fault.name,
                          path.port, path.to);
  }
  return LegEnd{path.to, std::move(peer), path.port, true};
}

}  // namespace

Result<std::vector<LegEnd>> leg_ends(const Fault& fault, const Battlefield& battlefield) {
  std::vector<LegEnd> ends;
  for (const std::string& name : fault.legs) {
    ORDEAL_TRY_ASSIGN(const Leg* leg, find_leg(fault, battlefield, name));
    for (const Path& path : leg->paths) {
      ORDEAL_TRY_ASSIGN(LegEnd end, end_of(fault, battlefield, path));
      ends.push_back(std::move(end));
    }
  }
  return ends;
}

FilterRules leg_rules(const LegEnd& end, const std::string& direction, const std::string& target) {
  FilterRules rules;
  const auto rule = [&](char peer_flag, const char* port_flag) {
    return fmt::format("-{} {} -p tcp --{} {} {}", peer_flag, end.peer, port_flag, end.port,
                       target);
  };
  const bool upstream = direction != "downstream";
  const bool downstream = direction != "upstream";
  if (end.is_server && upstream) rules.input.push_back(rule('s', "dport"));
  if (end.is_server && downstream) rules.output.push_back(rule('d', "sport"));
  if (!end.is_server && upstream) rules.output.push_back(rule('d', "dport"));
  if (!end.is_server && downstream) rules.input.push_back(rule('s', "sport"));
  return rules;
}

std::vector<HostCommands> probe_paths(const Fault& fault, const Battlefield& battlefield,
                                      Command (*probe)(const std::string& address, int port)) {
  std::vector<HostCommands> probes;
  for (const Leg& leg : battlefield.terrain.legs) {
    if (std::find(fault.legs.begin(), fault.legs.end(), leg.name) == fault.legs.end()) continue;
    for (const Path& path : leg.paths) {
      const bool through_proxy = !path.listener.empty() && !is_clients(path);
      probes.push_back({path.from,
                        {through_proxy ? probe(battlefield.control_address, path.listener_port)
                                       : probe(path.address, path.port)}});
    }
  }
  return probes;
}

}  // namespace ordeal
