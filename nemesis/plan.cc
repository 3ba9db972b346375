#include "nemesis/plan.h"

#include <cstdlib>
#include <utility>

namespace ordeal {
namespace {

// $1 is a shell line that prints the state, the rest are the words.
constexpr std::string_view kStateIs = R"(
seen=$(eval "$1") || exit 1
echo "processes are $seen"
shift
for wanted in "$@"; do [ "$seen" != "$wanted" ] || exit 0; done
exit 1
)";

// $1 is a shell line that prints the clock's offset, $2 what it should be, $3 the exit status for
// silence.
constexpr std::string_view kClockIs = R"(
seen=$(eval "$1" 2>/dev/null) || { echo "the server does not tell its clock"; exit "$3"; }
echo "the server's clock is $seen s ahead"
awk "BEGIN { off = $seen - ($2); off *= off; size = $2 * $2; if (!size) size = 1
             exit !(off < 0.0625 && off * 4 < size) }"
)";

// Standard input that a command has goes with it into the line.
std::string line_of(const Command& command_) {
  if (command_.standard_input.empty()) return shell_line(command_);
  return "printf %s " + shell_line(command({command_.standard_input})) + " | " +
         shell_line(command_);
}

// A server that takes the time past libc, as programs in Go do, has no command for it.
Status check_clock(const FaultEntry& entry, const Fault& fault, const Battlefield& battlefield) {
  if (entry.need != FaultNeed::faketime) return {};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    if (!battlefield.server(*host).clock_offset.arguments.empty()) continue;
    return bad_input(
        "fault {} cannot be done to the server on {}: libfaketime does not reach the clock of this "
        "system; remove the fault, or move the clock of the whole host (host-clock-skew, where "
        "hosts have clocks of their own)",
        fault.name, name);
  }
  return {};
}

}  // namespace

Command command(std::vector<std::string> arguments) {
  Command result;
  result.arguments = std::move(arguments);
  return result;
}

Command script(std::string_view text, std::vector<std::string> arguments) {
  std::vector<std::string> all{"sh", "-c", std::string(text), "sh"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return command(std::move(all));
}

Command all_of(const std::vector<Command>& commands) {
  std::string text;
  for (const Command& each : commands) text += "{ " + line_of(each) + "; } || exit\n";
  return script(text, {});
}

Command each_of(const std::vector<Command>& commands) {
  std::string text = "status=0\n";
  for (const Command& each : commands) text += "{ " + line_of(each) + "; } || status=$?\n";
  return script(text + "exit $status\n", {});
}

Result<FaultPlan> plan_fault(const Fault& fault, const Battlefield& battlefield) {
  const FaultEntry* entry = find_fault(fault.name);
  if (entry == nullptr) return internal_error("fault {} is not in the catalogue", fault.name);
  ORDEAL_TRY(check_clock(*entry, fault, battlefield));
  return entry->plan(fault, battlefield);
}

Result<const Host*> find_host(const Fault& fault, const Battlefield& battlefield,
                              const std::string& name) {
  for (const Host* host : battlefield.hosts) {
    if (host->name() == name) return host;
  }
  return bad_input("fault {} names host {}, which is not in this run", fault.name, name);
}

Result<const Leg*> find_leg(const Fault& fault, const Battlefield& battlefield,
                            const std::string& name) {
  for (const Leg& leg : battlefield.terrain.legs) {
    if (leg.name == name) return &leg;
  }
  return bad_input("fault {} names leg {}, which is not in this run", fault.name, name);
}

Result<double> number_of(const Fault& fault, const std::string& parameter, double minimum,
                         double maximum) {
  const auto found = fault.parameters.find(parameter);
  const std::string text = found == fault.parameters.end() ? "" : found->second;
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  // Not-a-number is within no bounds.
  if (!text.empty() && *end == '\0' && value >= minimum && value <= maximum) return value;
  return bad_input("fault {}: {}={}: expected a number from {} to {}", fault.name, parameter, text,
                   minimum, maximum);
}

Result<FaultPlan> plan_per_server(const Fault& fault, const Battlefield& battlefield,
                                  std::string detail, const ServerSteps& steps) {
  FaultPlan plan{.detail = std::move(detail), .inject = {}, .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const ServerControl control = battlefield.server(*host);
    const auto add = [&](std::vector<HostCommands>& commands, const ServerSteps::Step& step) {
      if (step) commands.push_back({name, {step(control)}});
    };
    add(plan.inject, steps.inject);
    add(plan.undo, steps.undo);
    add(plan.effect, steps.effect);
    add(plan.healed, steps.healed);
    add(plan.possible, steps.possible);
  }
  return plan;
}

Command state_is(const ServerControl& control, std::initializer_list<std::string_view> words) {
  std::vector<std::string> arguments{shell_line(control.state)};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return script(kStateIs, std::move(arguments));
}

Command clock_is(const ServerControl& control, std::string_view offset_s, bool silent_is_fine) {
  return script(kClockIs, {shell_line(control.clock_reading), std::string(offset_s),
                           silent_is_fine ? "0" : "1"});
}

}  // namespace ordeal
