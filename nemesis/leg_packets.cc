#include "nemesis/leg_packets.h"

#include <fmt/format.h>

#include <algorithm>

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

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Result<LegEnd> leg_end(const Fault& fault, const Battlefield& battlefield, const Path& path) {
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

Result<std::vector<LegEnd>> leg_ends(const Fault& fault, const Battlefield& battlefield) {
  std::vector<LegEnd> ends;
  for (const std::string& name : fault.legs) {
    ORDEAL_TRY_ASSIGN(const Leg* leg, find_leg(fault, battlefield, name));
    for (const Path& path : leg->paths) {
      ORDEAL_TRY_ASSIGN(LegEnd end, leg_end(fault, battlefield, path));
      ends.push_back(std::move(end));
    }
  }
  return ends;
}

FilterRules leg_rules(const LegEnd& end, const std::string& direction,
                      const std::vector<std::string>& actions) {
  FilterRules rules;
  const auto add = [&](std::vector<std::string>& to, char peer_flag, const char* port_flag) {
    for (const std::string& action : actions) {
      to.push_back(fmt::format("-{} {} -p tcp --{} {} {}", peer_flag, end.peer, port_flag, end.port,
                               action));
    }
  };
  const bool upstream = direction != "downstream";
  const bool downstream = direction != "upstream";
  if (end.is_server && upstream) add(rules.input, 's', "dport");
  if (end.is_server && downstream) add(rules.output, 'd', "sport");
  if (!end.is_server && upstream) add(rules.output, 'd', "dport");
  if (!end.is_server && downstream) add(rules.input, 's', "sport");
  return rules;
}

Result<LegFilter> filter_legs(const Fault& fault, const Battlefield& battlefield,
                              std::string_view kind, const std::vector<std::string>& actions) {
  ORDEAL_TRY_ASSIGN(const std::vector<LegEnd> ends, leg_ends(fault, battlefield));
  LegFilter filter{.chain = filter_chain(kind, battlefield.run_id)};
  std::map<std::string, FilterRules> rules;
  for (const LegEnd& end : ends) {
    const FilterRules more = leg_rules(end, fault.parameters.at("direction"), actions);
    filter.hosts[end.host] = is_ipv6(end.peer);
    append(rules[end.host].input, more.input);
    append(rules[end.host].output, more.output);
  }
  for (const auto& [host, ipv6] : filter.hosts) {
    filter.add.push_back({host, {add_filter(filter.chain, ipv6, rules[host])}});
    filter.remove.push_back({host, {remove_filter(filter.chain, ipv6)}});
  }
  return filter;
}

std::vector<HostCommands> probe_paths(const Fault& fault, const Battlefield& battlefield,
                                      const PathProbe& probe) {
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

std::string_view direction_words(const Fault& fault) {
  const std::string& direction = fault.parameters.at("direction");
  if (direction == "both") return "in both directions";
  return direction == "upstream" ? "on the way to the server" : "on the way from the server";
}

}  // namespace ordeal
