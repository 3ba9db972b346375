#include "nemesis/power.h"

#include <fmt/format.h>

#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

constexpr OptionSpec kOptions[] = {kHostsOption, kRoleOption};

constexpr char kPowerCut[] = "power-cut";
constexpr char kKernelPanic[] = "kernel-panic";

template <const char* name>
Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  return {.name = name, .hosts = draw_servers(options, terrain, random)};
}

// $1 is the power switch, $2 what it should say, $3 the host.
constexpr std::string_view kPowerIs = R"(
seen=$(sh "$1" state) || exit 1
echo "the power of $3 is $seen"
[ "$seen" = "$2" ]
)";

// The command that asks for it has to come back first.
constexpr std::string_view kPanic = R"(
[ -w /proc/sysrq-trigger ] || { echo "the kernel has no /proc/sysrq-trigger" >&2; exit 1; }
setsid sh -c 'sleep 0.2; echo c > /proc/sysrq-trigger' </dev/null >/dev/null 2>&1 &
)";

Command power(const Host& host, std::string_view verb) {
  return command({"sh", host.spec().power.string(), std::string(verb)});
}

Command power_is(const Host& host, std::string_view state) {
  return script(kPowerIs, {host.spec().power.string(), std::string(state), host.name()});
}

struct Struck {
  const Host& host;
  ServerControl control;
};

// The machine is switched on by the control node; only then can the server be started on it.
Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield, std::string_view what,
                       void (*strike)(const Struck&, HostCommands& control_node, FaultPlan&)) {
  FaultPlan plan{
      .detail = fmt::format("{} {}", what, fmt::join(fault.hosts, ", ")), .inject = {}, .undo = {}};
  const std::string here(kControlNode);
  HostCommands inject{here, {}};
  HostCommands undo{here, {}};
  HostCommands effect{here, {}};
  HostCommands healed{here, {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const ServerControl control = battlefield.server(*host);
    strike({*host, control}, inject, plan);
    undo.commands.push_back(power(*host, "on"));
    plan.undo.push_back({name, {control.start}});
    effect.commands.push_back(power_is(*host, "off"));
    healed.commands.push_back(power_is(*host, "on"));
    plan.healed.push_back({name, {state_is(control, {"running", "stopped", "mixed"})}});
  }
  plan.inject.push_back(std::move(inject));
  plan.undo.push_back(std::move(undo));
  plan.effect.push_back(std::move(effect));
  plan.healed.push_back(std::move(healed));
  return plan;
}

Result<FaultPlan> plan_power_cut(const Fault& fault, const Battlefield& battlefield) {
  return plan(fault, battlefield, "no power for",
              [](const Struck& struck, HostCommands& control_node, FaultPlan&) {
                control_node.commands.push_back(power(struck.host, "off"));
              });
}

// The control node only looks whether the machine can be switched on again.
Result<FaultPlan> plan_kernel_panic(const Fault& fault, const Battlefield& battlefield) {
  return plan(fault, battlefield, "kernel panic on",
              [](const Struck& struck, HostCommands& control_node, FaultPlan& plan) {
                control_node.commands.push_back(power_is(struck.host, "on"));
                plan.inject.push_back({struck.host.name(), {script(kPanic, {})}});
              });
}

}  // namespace

FaultEntry power_cut_fault() {
  return {.name = kPowerCut,
          .summary = "cuts a host's power: what it had not synced is lost; then boots it again",
          .need = FaultNeed::power,
          .options = kOptions,
          .draw = draw<kPowerCut>,
          .plan = plan_power_cut};
}

FaultEntry kernel_panic_fault() {
  return {.name = kKernelPanic,
          .summary = "lets a host's kernel panic (sysrq), then boots it again",
          .need = FaultNeed::power,
          .options = kOptions,
          .draw = draw<kKernelPanic>,
          .plan = plan_kernel_panic};
}

}  // namespace ordeal
