#include "nemesis/process.h"

#include <fmt/format.h>

#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr OptionSpec kOptions[] = {kHostsOption, kRoleOption};

template <const char* name>
Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  return {.name = name, .hosts = draw_servers(options, terrain, random)};
}

constexpr char kPause[] = "pause";
constexpr char kKill[] = "kill";
constexpr char kStop[] = "stop";
constexpr char kRestart[] = "restart";

Command start(const ServerControl& control) { return control.start; }
Command is_there(const ServerControl& control) {
  return state_is(control, {"running", "stopped", "mixed"});
}
Command is_gone(const ServerControl& control) { return state_is(control, {"absent"}); }

std::string detail(std::string_view what, const Fault& fault) {
  return fmt::format("{} on {}", what, fmt::join(fault.hosts, ", "));
}

// Processes do as they are told at once, unless another fault was there before.
Result<FaultPlan> plan_at_once(const Fault& fault, const Battlefield& battlefield,
                               std::string_view what, const ServerSteps& steps) {
  ORDEAL_TRY_ASSIGN(FaultPlan plan,
                    plan_per_server(fault, battlefield, detail(what, fault), steps));
  plan.effect_within = milliseconds(1000);
  return plan;
}

// Who is dead when resumed was killed meanwhile.
Result<FaultPlan> plan_pause(const Fault& fault, const Battlefield& battlefield) {
  return plan_at_once(
      fault, battlefield, "SIGSTOP to the database",
      {.inject = [](const ServerControl& control) { return control.pause; },
       .undo = [](const ServerControl& control) { return control.resume; },
       .effect = [](const ServerControl& control) { return state_is(control, {"stopped"}); },
       .healed =
           [](const ServerControl& control) {
             return state_is(control, {"running", "absent"});
           }});
}

Result<FaultPlan> plan_kill(const Fault& fault, const Battlefield& battlefield) {
  return plan_at_once(fault, battlefield, "SIGKILL to the database",
                      {.inject = [](const ServerControl& control) { return control.kill; },
                       .undo = start,
                       .effect = is_gone,
                       .healed = is_there});
}

Result<FaultPlan> plan_stop(const Fault& fault, const Battlefield& battlefield) {
  return plan_at_once(fault, battlefield, "orderly stop of the database",
                      {.inject = [](const ServerControl& control) { return control.stop; },
                       .undo = start,
                       .effect = is_gone,
                       .healed = is_there});
}

// $1 is a shell line that prints the age. No start is older than the step that made it.
constexpr std::string_view kIsYoung = R"(
age=$(eval "$1") || exit 1
echo "the oldest process is $age s old"
awk "BEGIN { exit !($age < 10) }"
)";

Result<FaultPlan> plan_restart(const Fault& fault, const Battlefield& battlefield) {
  return plan_at_once(
      fault, battlefield, "orderly stop and start of the database",
      {.inject =
           [](const ServerControl& control) {
             return all_of({control.stop, control.start});
           },
       .undo = start,
       .effect =
           [](const ServerControl& control) { return script(kIsYoung, {shell_line(control.age)}); },
       .healed = is_there});
}

}  // namespace

FaultEntry pause_fault() {
  return {.name = kPause,
          .summary = "freezes the database's processes (SIGSTOP), then lets them go on",
          .need = FaultNeed::nothing,
          .options = kOptions,
          .draw = draw<kPause>,
          .plan = plan_pause,
          .typical = {.to_see = milliseconds(300), .to_heal = milliseconds(500)}};
}

FaultEntry kill_fault() {
  return {.name = kKill,
          .summary = "kills the database's processes (SIGKILL), then starts the database again",
          .need = FaultNeed::nothing,
          .options = kOptions,
          .draw = draw<kKill>,
          .plan = plan_kill,
          .typical = {.to_see = milliseconds(300), .to_heal = milliseconds(500)}};
}

FaultEntry stop_fault() {
  return {.name = kStop,
          .summary = "stops the database in an orderly way, then starts it again",
          .need = FaultNeed::nothing,
          .options = kOptions,
          .draw = draw<kStop>,
          .plan = plan_stop,
          .typical = {.to_see = milliseconds(500), .to_heal = milliseconds(500)}};
}

FaultEntry restart_fault() {
  return {.name = kRestart,
          .summary = "stops the database in an orderly way and starts it at once",
          .need = FaultNeed::nothing,
          .options = kOptions,
          .draw = draw<kRestart>,
          .plan = plan_restart,
          .typical = {.to_see = milliseconds(1000), .to_heal = milliseconds(400)}};
}

}  // namespace ordeal
