#include "nemesis/process.h"

#include <fmt/format.h>

#include "nemesis/host_choice.h"
#include "nemesis/plan.h"

namespace ordeal {
namespace {

constexpr OptionSpec kOptions[] = {kHostsOption};

template <const char* name>
Fault draw(const Options& options, const std::vector<std::string>& hosts, Random& random) {
  return {
      .name = name, .hosts = draw_hosts(options.text("hosts"), hosts, random), .parameters = {}};
}

constexpr char kPause[] = "pause";
constexpr char kKill[] = "kill";

Result<FaultPlan> plan_pause(const Fault& fault, const Battlefield& battlefield) {
  return plan_per_server(
      fault, battlefield,
      fmt::format("SIGSTOP to the database on {}", fmt::join(fault.hosts, ", ")),
      [](const ServerControl& control) { return control.pause; },
      [](const ServerControl& control) { return control.resume; });
}

Result<FaultPlan> plan_kill(const Fault& fault, const Battlefield& battlefield) {
  return plan_per_server(
      fault, battlefield,
      fmt::format("SIGKILL to the database on {}", fmt::join(fault.hosts, ", ")),
      [](const ServerControl& control) { return control.kill; },
      [](const ServerControl& control) { return control.start; });
}

}  // namespace

FaultEntry pause_fault() {
  return {.name = kPause,
          .summary = "freezes the database's processes (SIGSTOP), then lets them go on",
          .need = FaultNeed::nothing,
          .options = kOptions,
          .draw = draw<kPause>,
          .plan = plan_pause};
}

FaultEntry kill_fault() {
  return {.name = kKill,
          .summary = "kills the database's processes (SIGKILL), then starts the database again",
          .need = FaultNeed::nothing,
          .options = kOptions,
          .draw = draw<kKill>,
          .plan = plan_kill};
}

}  // namespace ordeal
