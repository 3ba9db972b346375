// Faults `host-clock-strobe` and `host-clock-drift`: a process on the host goes on setting the
// clock (nemesis/clock_helper.cc) until it is ended, or for an hour.
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "nemesis/host_clock.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"
#include "nemesis/watchdog.h"

namespace ordeal {
namespace {

constexpr std::int64_t kPeriodMin_ms = 10;
constexpr std::int64_t kPeriodMax_ms = 2500;
constexpr const char* kLimit_s = "3600";

// $1 program, $2 state, $3 id of the mark, which no shell here must bear, then what moves the
// clock. Nothing where that is there already. To skew the clock by nothing notes the true time, and
// tells at once where the clock may not be set.
constexpr std::string_view kBegin = R"sh(
printf 'ordeal-host-clock:%s\n' "$3" | grep -qszxF -f - /proc/[0-9]*/cmdline && exit 0
base64 -d > "$1" && chmod 700 "$1" && "$1" skew "$2" +0 || exit 1
program=$1 state=$2 mark=ordeal-host-clock:$3 verb=$4
shift 4
setsid "$program" "$verb" "$state" "$@" "$mark" </dev/null >/dev/null 2>&1 &
)sh";

struct Motion {
  std::string detail;
  std::vector<std::string> arguments;  // to the program, without state and mark
  std::function<Command(const HostClock&)> effect;
};

Result<FaultPlan> plan_motion(const Fault& fault, const Battlefield& battlefield,
                              const Motion& motion) {
  FaultPlan result{.detail = motion.detail, .inject = {}, .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const HostClock clock = host_clock_of(battlefield.server(*host), battlefield.run_id, name);
    std::vector<std::string> arguments{clock.program, clock.state, clock.mover.id};
    arguments.insert(arguments.end(), motion.arguments.begin(), motion.arguments.end());
    Command begin = script(kBegin, std::move(arguments));
    begin.standard_input = clock_helper_base64();
    result.inject.push_back({name, {std::move(begin)}});
    result.undo.push_back(
        {name,
         {all_of({end_marked(clock.mover.kind, clock.mover.id), restore_host_clock(clock)})}});
    result.effect.push_back({name, {motion.effect(clock)}});
    result.healed.push_back({name, {is_gone(clock.mover), host_clock_is_right(clock)}});
  }
  return result;
}

// ---- host-clock-strobe

constexpr OptionSpec kStrobeOptions[] = {
    kHostsOption,
    kRoleOption,
    kJumpOption,
    kMaxOffsetOption,
    {.name = "period",
     .type = OptionType::duration,
     .default_value = "500ms",
     .summary = "how long the clock stays wrong, and then right; from 10ms to 2500ms",
     .minimum = kPeriodMin_ms,
     .maximum = kPeriodMax_ms},
};

Fault draw_host_strobe(const Options& options, const Terrain& terrain, Random& random) {
  return draw_strobe("host-clock-strobe", options, terrain, random);
}

Result<FaultPlan> plan_strobe(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double period_ms,
                    number_of(fault, "period", kPeriodMin_ms, kPeriodMax_ms));
  ORDEAL_TRY_ASSIGN(const std::string offset, offset_of(fault));
  const std::string period = fmt::format("{:.0f}", period_ms);
  return plan_motion(fault, battlefield,
                     {.detail = fmt::format("clock of {} moved by {} s, and back, every {} ms",
                                            fmt::join(fault.hosts, ", "), offset, period),
                      .arguments = {"strobe", offset, period, kLimit_s},
                      .effect = [&](const HostClock& clock) {
                        return is_strobed(asked_clock(clock), clock.mover, offset, period_ms);
                      }});
}

// ---- host-clock-drift

constexpr OptionSpec kDriftOptions[] = {kHostsOption, kRoleOption, kMaxDriftOption};

Fault draw_drift(const Options& options, const Terrain& terrain, Random& random) {
  std::string rate = draw_rate(options, random);
  return {.name = "host-clock-drift",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"rate", std::move(rate)}}};
}

Result<FaultPlan> plan_drift(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double rate, rate_of(fault));
  const double gain = rate - 1;
  return plan_motion(fault, battlefield,
                     {.detail = fmt::format("clock of {} runs at {:.3f} times its speed",
                                            fmt::join(fault.hosts, ", "), rate),
                      .arguments = {"drift", fmt::format("{:.3f}", rate), kLimit_s},
                      .effect = [&](const HostClock& clock) {
                        return drift_is(asked_clock(clock), gain, gain, false);
                      }});
}

}  // namespace

FaultEntry host_clock_strobe_fault() {
  return {.name = "host-clock-strobe",
          .summary = "moves the wall clock of a whole host to and fro (clock_settime)",
          .need = FaultNeed::own_clock,
          .options = kStrobeOptions,
          .draw = draw_host_strobe,
          .plan = plan_strobe};
}

FaultEntry host_clock_drift_fault() {
  return {.name = "host-clock-drift",
          .summary = "makes the wall clock of a whole host run fast or slow (clock_settime)",
          .need = FaultNeed::own_clock,
          .options = kDriftOptions,
          .draw = draw_drift,
          .plan = plan_drift};
}

}  // namespace ordeal
