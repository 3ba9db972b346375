#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "nemesis/clock_skew.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

constexpr double kGain_s = 0.15;  // that is surely told from what asking takes

constexpr OptionSpec kOptions[] = {
    kHostsOption,
    kRoleOption,
    kMaxDriftOption,
};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  std::string rate = draw_rate(options, random);
  return {.name = "clock-drift",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"rate", std::move(rate)}}};
}

// $1 rate, $2 a shell line that prints the server's age, the rest is the command that sets its
// clock. libfaketime speeds up the time since the process began, so all that it gained is taken
// off: the clock goes on from where it is.
constexpr std::string_view kDrift = R"(
age=$(eval "$2") || exit 1
offset=$(awk "BEGIN { printf \"%+.3f\", $age * (1 - $1) }")
rate=$1
shift 2
exec "$@" "$offset x$rate"
)";

Command drift(const ServerControl& control, double rate) {
  Command result = script(kDrift, {fmt::format("{:.3f}", rate), shell_line(control.age)});
  const Command& set = control.clock_offset;
  result.arguments.insert(result.arguments.end(), set.arguments.begin(), set.arguments.end());
  result.environment = set.environment;
  result.user = set.user;
  return result;
}

// $1 is a shell line that prints the clock's offset, $2 the wanted drift, $3 its tolerance, $4 the
// exit status for silence, $5 whose clock it is, $6 for how many seconds to look. Time is taken
// where no clock fault reaches.
constexpr std::string_view kDriftIs = R"(
silent() { echo "$2 clock is not told"; exit "$1"; }
now() { cut -d ' ' -f 1 /proc/uptime; }
begin=$(now)
before=$(eval "$1" 2>/dev/null) || silent "$4" "$5"
sleep "$6"
after=$(eval "$1" 2>/dev/null) || silent "$4" "$5"
end=$(now)
awk -v whose="$5" "BEGIN { drift = ($after - ($before)) / ($end - $begin); off = drift - ($2)
             printf \"%s clock gains %+.3f s a second\n\", whose, drift
             exit !(off < $3 && off > -($3)) }"
)";

AskedClock asked(const ServerControl& control) { return {"the server's", control.clock_reading}; }

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double rate, rate_of(fault));
  const double gain = rate - 1;
  return plan_per_server(
      fault, battlefield,
      fmt::format("clock of the database on {} runs at {:.3f} times its speed",
                  fmt::join(fault.hosts, ", "), rate),
      {.inject = [&](const ServerControl& control) { return drift(control, rate); },
       .undo = [](const ServerControl& control) { return set_server_clock(control, "+0"); },
       .effect =
           [&](const ServerControl& control) {
             return drift_is(asked(control), gain, gain, false);
           },
       .healed =
           [&](const ServerControl& control) {
             return all_of(
                 {drift_is(asked(control), 0, gain, true), clock_is(control, "+0", true)});
           }});
}

}  // namespace

std::string draw_rate(const Options& options, Random& random) {
  const auto drift_max = options.integer("max-drift") * 10;
  const auto drift = random.between(drift_max / 2, drift_max) * (random.chance(0.5) ? 1 : -1);
  return fmt::format("{:.3f}", 1 + static_cast<double>(drift) / 1000);
}

Result<double> rate_of(const Fault& fault) {
  ORDEAL_TRY_ASSIGN(const double rate, number_of(fault, "rate", 0.1, 1.9));
  if (std::abs(rate - 1) >= kDriftMin) return rate;
  return bad_input(
      "fault {}: rate={}: expected at most 0.95 or at least 1.05, since less cannot be measured in "
      "seconds",
      fault.name, fault.parameters.at("rate"));
}

Command drift_is(const AskedClock& clock, double drift, double gain, bool silent_is_fine) {
  const double tolerance = std::abs(gain) / 2;
  return script(kDriftIs,
                {shell_line(clock.reading), fmt::format("{:.3f}", drift),
                 fmt::format("{:.3f}", tolerance), silent_is_fine ? "0" : "1", clock.whose,
                 fmt::format("{:.2f}", std::clamp(kGain_s / std::abs(gain), 0.5, 2.0))});
}

FaultEntry clock_drift_fault() {
  return {.name = "clock-drift",
          .summary = "makes the database's wall clock run fast or slow (libfaketime)",
          .need = FaultNeed::faketime,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .typical = {.to_see = std::chrono::milliseconds(2000),
                      .to_heal = std::chrono::milliseconds(1500)}};
}

}  // namespace ordeal
