#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "nemesis/clock_skew.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

// Less cannot be told in two seconds from what asking takes.
constexpr double kDriftMin = 0.05;
constexpr double kGain_s = 0.15;  // that is surely told from it

using std::chrono::milliseconds;

constexpr OptionSpec kOptions[] = {
    kHostsOption,
    kRoleOption,
    {.name = "max-drift",
     .type = OptionType::integer,
     .default_value = "20",
     .summary = "the clock is fast or slow by at most this, in percent, and at least half of it",
     .minimum = 10,
     .maximum = 90},
};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  const auto drift_max = options.integer("max-drift") * 10;
  const auto drift = random.between(drift_max / 2, drift_max) * (random.chance(0.5) ? 1 : -1);
  return {.name = "clock-drift",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"rate", fmt::format("{:.3f}", 1 + static_cast<double>(drift) / 1000)}}};
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
// exit status for silence, $5 for how many seconds to look.
constexpr std::string_view kDriftIs = R"(
silent() { echo "the server does not tell its clock"; exit "$1"; }
begin=$(date +%s.%N)
before=$(eval "$1" 2>/dev/null) || silent "$4"
sleep "$5"
after=$(eval "$1" 2>/dev/null) || silent "$4"
end=$(date +%s.%N)
awk "BEGIN { drift = ($after - ($before)) / ($end - $begin); off = drift - ($2)
             printf \"the server's clock gains %+.3f s a second\n\", drift
             exit !(off < $3 && off > -($3)) }"
)";

// Whether the clock gains `drift`, and not, or the other way round, what the fault gives it,
// `gain`.
Command drift_is(const ServerControl& control, double drift, double gain, bool silent_is_fine) {
  const double tolerance = std::abs(gain) / 2;
  return script(kDriftIs, {shell_line(control.clock_reading), fmt::format("{:.3f}", drift),
                           fmt::format("{:.3f}", tolerance), silent_is_fine ? "0" : "1",
                           fmt::format("{:.2f}", std::clamp(kGain_s / std::abs(gain), 0.5, 2.0))});
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double rate, number_of(fault, "rate", 0.1, 1.9));
  const double gain = rate - 1;
  if (std::abs(gain) < kDriftMin) {
    return bad_input(
        "fault clock-drift: rate={}: expected at most 0.95 or at least 1.05, since "
        "less cannot be measured in seconds",
        fault.parameters.at("rate"));
  }
  return plan_per_server(
      fault, battlefield,
      fmt::format("clock of the database on {} runs at {:.3f} times its speed",
                  fmt::join(fault.hosts, ", "), rate),
      {.inject = [&](const ServerControl& control) { return drift(control, rate); },
       .undo = [](const ServerControl& control) { return set_server_clock(control, "+0"); },
       .effect = [&](const ServerControl& control) { return drift_is(control, gain, gain, false); },
       .healed =
           [&](const ServerControl& control) {
             return all_of({drift_is(control, 0, gain, true), clock_is(control, "+0", true)});
           }});
}

}  // namespace

FaultEntry clock_drift_fault() {
  return {.name = "clock-drift",
          .summary = "makes the database's wall clock run fast or slow (libfaketime)",
          .need = FaultNeed::faketime,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .typical = {.to_see = milliseconds(2000), .to_heal = milliseconds(1500)}};
}

}  // namespace ordeal
