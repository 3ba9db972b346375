#include "nemesis/partition.h"

#include <fmt/format.h>

#include <algorithm>

#include "nemesis/leg_packets.h"
#include "nemesis/packet_filter.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

constexpr OptionSpec kOptions[] = {kLegsOption, kDirectionOption};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  const std::string leg = draw_leg(options, terrain, random);
  const std::string direction = draw_direction(options, random);
  if (leg.empty()) return {.name = "partition", .hosts = {}};
  return {
      .name = "partition", .hosts = {}, .legs = {leg}, .parameters = {{"direction", direction}}};
}

std::string detail(const Fault& fault) {
  const std::string& direction = fault.parameters.at("direction");
  return fmt::format("packets of {} are dropped {}", fmt::join(fault.legs, ", "),
                     direction == "both"       ? "in both directions"
                     : direction == "upstream" ? "on the way to the server"
                                               : "on the way from the server");
}

void append(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const std::vector<LegEnd> ends, leg_ends(fault, battlefield));
  const std::string chain = filter_chain("P", battlefield.run_id);
  struct Rules {
    bool ipv6 = false;
    FilterRules rules;
  };
  std::map<std::string, Rules> by_host;
  for (const LegEnd& end : ends) {
    const FilterRules rules = leg_rules(end, fault.parameters.at("direction"), "-j DROP");
    Rules& all = by_host[end.host];
    all.ipv6 = is_ipv6(end.peer);
    append(all.rules.input, rules.input);
    append(all.rules.output, rules.output);
  }
  FaultPlan result{.detail = detail(fault), .inject = {}, .undo = {}};
  for (const auto& [host, all] : by_host) {
    result.inject.push_back({host, {add_filter(chain, all.ipv6, all.rules)}});
    result.undo.push_back({host, {remove_filter(chain, all.ipv6)}});
  }
  result.effect = probe_paths(fault, battlefield, gets_no_answer);
  result.healed = probe_paths(fault, battlefield, gets_answer);
  return result;
}

}  // namespace

FaultEntry partition_fault() {
  return {.name = "partition",
          .summary = "drops the packets of a leg, one way or both (iptables)",
          .need = FaultNeed::packet_filter,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .strikes = Strikes::legs};
}

}  // namespace ordeal
