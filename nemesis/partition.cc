#include "nemesis/partition.h"

#include <fmt/format.h>

#include <utility>

#include "nemesis/leg_packets.h"
#include "nemesis/packet_filter.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr OptionSpec kOptions[] = {kLegsOption, kDirectionOption};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  return draw_on_leg("partition", options, terrain, random, {});
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(LegFilter filter, filter_legs(fault, battlefield, "P", {"-j DROP"}));
  return FaultPlan{.detail = fmt::format("packets of {} are dropped {}",
                                         fmt::join(fault.legs, ", "), direction_words(fault)),
                   .inject = std::move(filter.add),
                   .undo = std::move(filter.remove),
                   .effect = probe_paths(fault, battlefield, gets_no_answer),
                   .healed = probe_paths(fault, battlefield, gets_answer)};
}

}  // namespace

FaultEntry partition_fault() {
  return {.name = "partition",
          .summary = "drops the packets of a leg, one way or both (iptables)",
          .need = FaultNeed::packet_filter,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .strikes = Strikes::legs,
          .typical = {.to_see = milliseconds(600), .to_heal = milliseconds(300)}};
}

}  // namespace ordeal
