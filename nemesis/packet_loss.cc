#include "nemesis/packet_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "nemesis/leg_packets.h"
#include "nemesis/packet_filter.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr OptionSpec kOptions[] = {
    kLegsOption,
    kDirectionOption,
    {.name = "max-loss",
     .type = OptionType::integer,
     .default_value = "40",
     .summary = "at most this share of packets is lost, in percent, and at least half of it",
     .minimum = 10,
     .maximum = 90},
};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  const auto permille_max = options.integer("max-loss") * 10;
  const auto permille = random.between(permille_max / 2, permille_max);
  return draw_on_leg(
      "packet-loss", options, terrain, random,
      {{"probability", fmt::format("{:.3f}", static_cast<double>(permille) / 1000)}});
}

// $1 is iptables or ip6tables, $2 the chain, $3 the probability, $4 how many packets are enough to
// judge. Rules without a target count what the rules after them then drop a share of. Four standard
// deviations of the binomial distribution, and one packet, are the tolerance.
constexpr std::string_view kShareLost = R"(
for try in $(seq 40); do
  rules=$("$1" -w 5 -nvxL "$2" 2>/dev/null) || { echo "there is no chain $2"; exit 1; }
  counts=$(echo "$rules" | awk '
    $3 == "DROP" { lost += $1; next }
    /^ *[0-9]/ { all += $1 }
    END { print lost + 0, all + 0 }')
  [ "${counts#* }" -lt "$4" ] || break
  sleep 0.1
done
echo "${counts% *} of ${counts#* } packets were lost"
echo "$counts" | awk -v p="$3" -v enough="$4" '{
  off = $1 - $2 * p; if (off < 0) off = -off
  exit !($1 > 0 && $2 >= enough && off <= 4 * sqrt($2 * p * (1 - p)) + 1) }'
)";

// What a share can be measured of: the fewer are lost, the more it takes to see one.
int connections_for(double probability) {
  return static_cast<int>(std::clamp(std::ceil(6 / probability), 40.0, 300.0));
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double probability, number_of(fault, "probability", 0.02, 0.98));
  const std::string text = fmt::format("{:.3f}", probability);
  ORDEAL_TRY_ASSIGN(LegFilter filter, filter_legs(fault, battlefield, "L",
                                                  {"", "-m statistic --mode random --probability " +
                                                           text + " -j DROP"}));
  const int connections = connections_for(probability);
  FaultPlan result{.detail = fmt::format("packets of {} are lost with probability {} {}",
                                         fmt::join(fault.legs, ", "), text, direction_words(fault)),
                   .inject = std::move(filter.add),
                   .undo = std::move(filter.remove),
                   .effect = probe_paths(fault, battlefield,
                                         [&](const std::string& address, int port) {
                                           return connect_often(address, port, connections);
                                         }),
                   .healed = probe_paths(fault, battlefield, answers_at_once)};
  for (const auto& [host, ipv6] : filter.hosts) {
    const std::string program = filter_program(ipv6);
    result.effect.push_back(
        {host, {script(kShareLost, {program, filter.chain, text, std::to_string(connections)})}});
    result.healed.push_back({host, {has_no_filter(filter.chain, ipv6)}});
  }
  return result;
}

}  // namespace

FaultEntry packet_loss_fault() {
  return {.name = "packet-loss",
          .summary = "drops a share of a leg's packets, one way or both (iptables)",
          .need = FaultNeed::packet_filter,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .strikes = Strikes::legs,
          .typical = {.to_see = milliseconds(2000), .to_heal = milliseconds(600)}};
}

}  // namespace ordeal
