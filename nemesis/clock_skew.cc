#include "nemesis/clock_skew.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr OptionSpec kOptions[] = {kHostsOption, kRoleOption, kJumpOption, kMaxOffsetOption};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  std::string offset = draw_offset(options, random);
  return {.name = "clock-skew",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"offset", std::move(offset)}}};
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const std::string offset, offset_of(fault));
  return plan_per_server(
      fault, battlefield,
      fmt::format("clock of the database on {} moved by {} s", fmt::join(fault.hosts, ", "),
                  offset),
      {.inject = [&](const ServerControl& control) { return set_server_clock(control, offset); },
       .undo = [](const ServerControl& control) { return set_server_clock(control, "+0"); },
       .effect = [&](const ServerControl& control) { return clock_is(control, offset, false); },
       .healed = [](const ServerControl& control) { return clock_is(control, "+0", true); }});
}

}  // namespace

std::string draw_offset(const Options& options, Random& random) {
  const auto size_max = options.duration("max-offset").count();
  const auto size = random.between((size_max + 9) / 10, size_max);
  const std::string& jump = options.text("jump");
  const bool ahead = jump == "ahead" || (jump == "both" && random.chance(0.5));
  return offset_text(std::chrono::milliseconds(ahead ? size : -size));
}

Result<std::string> offset_of(const Fault& fault) {
  constexpr double kLargest_s = 365 * 24 * 3600;
  constexpr double kSmallest_s = 0.1;  // that can be measured
  ORDEAL_TRY_ASSIGN(const double size_s, number_of(fault, "offset", -kLargest_s, kLargest_s));
  if (std::abs(size_s) >= kSmallest_s)
    return offset_text(milliseconds(std::llround(size_s * 1000)));
  return bad_input("fault {}: offset={}: expected at least {} s, ahead or back", fault.name,
                   fault.parameters.at("offset"), kSmallest_s);
}

std::string offset_text(std::chrono::milliseconds offset) {
  const auto size = std::abs(offset.count());
  return fmt::format("{}{}.{:03}", offset.count() < 0 ? '-' : '+', size / 1000, size % 1000);
}

Command set_server_clock(const ServerControl& control, const std::string& offset) {
  Command command = control.clock_offset;
  command.arguments.push_back(offset + " x1");
  return command;
}

FaultEntry clock_skew_fault() {
  return {.name = "clock-skew",
          .summary = "moves the database's wall clock (libfaketime)",
          .need = FaultNeed::faketime,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .typical = {.to_see = milliseconds(1300), .to_heal = milliseconds(1200)}};
}

}  // namespace ordeal
