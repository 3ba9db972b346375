#include "orchestrator/legs.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/names.h"
#include "nemesis/proxy/proxy.h"
#include "orchestrator/faults.h"

namespace ordeal {
namespace {

bool wants(const Options& options, const std::string& leg) {
  const std::vector<std::string> legs = options.list("legs");
  return legs.empty() || std::find(legs.begin(), legs.end(), leg) != legs.end();
}

bool a_fault_needs_it(const Campaign& campaign, const std::string& leg) {
  for (const auto& fault : campaign.faults) {
    if (fault.entry->need == FaultNeed::proxy && wants(fault.options, leg)) return true;
  }
  // Which leg a written step strikes may still be drawn.
  const auto used = faults_in_use(campaign);
  return !campaign.steps.empty() && std::any_of(used.begin(), used.end(), [](const auto& each) {
    return each.entry->need == FaultNeed::proxy;
  });
}

bool through_proxy(const Campaign& campaign, const std::string& leg) {
  const auto chosen = campaign.legs.find(leg);
  if (chosen != campaign.legs.end()) return chosen->second.way == "proxy";
  return a_fault_needs_it(campaign, leg);
}

Status check_names(const Campaign& campaign, const Terrain& terrain) {
  std::vector<std::string_view> known;
  for (const Leg& leg : terrain.legs) known.push_back(leg.name);
  for (const auto& [name, choice] : campaign.legs) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return bad_input("{}: legs: {}", choice.where, unknown_name("leg", name, known));
  }
  return {};
}

std::string endpoint(const std::string& address, int port) {
  const bool ipv6 = address.find(':') != std::string::npos;
  return ipv6 ? fmt::format("[{}]:{}", address, port) : fmt::format("{}:{}", address, port);
}

// The path before it whose listener it shares, if there is one.
const Path* sharing(const Leg& leg, std::size_t number) {
  const auto end = leg.paths.begin() + static_cast<std::ptrdiff_t>(number);
  const auto found = std::find_if(leg.paths.begin(), end, [&](const Path& other) {
    return leg.one_address && other.to == leg.paths[number].to;
  });
  return found == end ? nullptr : &*found;
}

Status route(Leg& leg, std::size_t number, const std::string& address, proxy::Proxy& proxy,
             Target& target) {
  Path& path = leg.paths[number];
  if (const Path* other = sharing(leg, number)) {
    path.listener = other->listener;
    path.listener_port = other->listener_port;
    return {};
  }
  const std::string name =
      leg.paths.size() == 1 ? leg.name : fmt::format("{}-{}", leg.name, number + 1);
  ORDEAL_TRY_ASSIGN(const proxy::LegInfo info,
                    proxy.add_leg({.name = name,
                                   .listen = endpoint(address, 0),
                                   .upstream = endpoint(path.address, path.port)}));
  path.listener = name;
  path.listener_port = std::stoi(info.spec.listen.substr(info.spec.listen.rfind(':') + 1));
  return target.reroute(leg.name, path, address, path.listener_port);
}

}  // namespace

Result<std::unique_ptr<proxy::Proxy>> route_legs(const Campaign& campaign, Target& target,
                                                 Terrain& terrain,
                                                 const std::string& control_address,
                                                 std::uint64_t seed) {
  ORDEAL_TRY(check_names(campaign, terrain));
  const std::string address = control_address.empty() ? "127.0.0.1" : control_address;
  std::unique_ptr<proxy::Proxy> proxy;
  for (Leg& leg : terrain.legs) {
    if (!through_proxy(campaign, leg.name)) continue;
    if (!proxy) {
      ORDEAL_TRY_ASSIGN(proxy, proxy::Proxy::start({.seed = seed}));
    }
    for (std::size_t number = 0; number < leg.paths.size(); ++number) {
      ORDEAL_TRY(route(leg, number, address, *proxy, target));
    }
  }
  return proxy;
}

}  // namespace ordeal
