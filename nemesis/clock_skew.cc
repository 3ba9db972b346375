#include "nemesis/clock_skew.h"

#include <fmt/format.h>

#include <cstdlib>

#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

constexpr std::string_view kJumps[] = {"back", "ahead", "both"};

constexpr OptionSpec kOptions[] = {
    kHostsOption,
    kRoleOption,
    {.name = "jump",
     .type = OptionType::text,
     .default_value = "both",
     .summary = "back, ahead or both (drawn each time)",
     .choices = kJumps},
    {.name = "max-offset",
     .type = OptionType::duration,
     .default_value = "60s",
     .summary = "the clock jumps by at most this, and by at least a tenth of it",
     .minimum = 1},
};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  const auto size_max = options.duration("max-offset").count();
  const auto size = random.between((size_max + 9) / 10, size_max);
  const std::string& jump = options.text("jump");
  const bool ahead = jump == "ahead" || (jump == "both" && random.chance(0.5));
  const std::chrono::milliseconds offset{ahead ? size : -size};
  return {.name = "clock-skew",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"offset", faketime_offset(offset)}}};
}

Command set_offset(const ServerControl& control, const std::string& offset) {
  Command command = control.clock_offset;
  command.arguments.push_back(offset);
  return command;
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  const std::string& offset = fault.parameters.at("offset");
  return plan_per_server(
      fault, battlefield,
      fmt::format("clock of the database on {} moved by {} s", fmt::join(fault.hosts, ", "),
                  offset),
      {.inject = [&](const ServerControl& control) { return set_offset(control, offset); },
       .undo = [](const ServerControl& control) { return set_offset(control, "+0"); },
       .effect = [&](const ServerControl& control) { return clock_is(control, offset, false); },
       .healed = [](const ServerControl& control) { return clock_is(control, "+0", true); }});
}

}  // namespace

std::string faketime_offset(std::chrono::milliseconds offset) {
  const auto size = std::abs(offset.count());
  return fmt::format("{}{}.{:03}", offset.count() < 0 ? '-' : '+', size / 1000, size % 1000);
}

FaultEntry clock_skew_fault() {
  return {.name = "clock-skew",
          .summary = "moves the database's wall clock (libfaketime)",
          .need = FaultNeed::faketime,
          .options = kOptions,
          .draw = draw,
          .plan = plan};
}

}  // namespace ordeal
