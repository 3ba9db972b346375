#include "nemesis/host_clock.h"

#include <fmt/format.h>

#include <string_view>

#include "nemesis/clock_skew.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

// ORDEAL_CLOCK_HELPER is the path of the built program.
asm(".section .rodata\n"
    "ordeal_clock_helper_begin:\n"
    ".incbin \"" ORDEAL_CLOCK_HELPER
    "\"\n"
    "ordeal_clock_helper_end:\n"
    ".byte 0\n"
    ".previous\n");

extern "C" {
extern const char ordeal_clock_helper_begin[];
extern const char ordeal_clock_helper_end[];
}

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr OptionSpec kOptions[] = {kHostsOption, kRoleOption, kJumpOption, kMaxOffsetOption};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  std::string offset = draw_offset(options, random);
  return {.name = "host-clock-skew",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"offset", std::move(offset)}}};
}

// Of one host. The state is lost when the host reboots, and so is what it says; programs cannot
// be run from everywhere below /run.
struct Place {
  std::string program;
  std::string state;
};

Place place_of(const ServerControl& control, const std::string& run_id) {
  const std::string name = "ordeal-clock-" + run_id;
  return {(control.directory / name).string(), "/run/" + name};
}

// $1 program, $2 state, $3 offset; the program comes as text.
constexpr std::string_view kSkew = R"(
base64 -d > "$1" && chmod 700 "$1" && "$1" skew "$2" "$3"
)";

// $1 program, $2 state. Without a state the clock was not moved.
constexpr std::string_view kRestore = R"(
[ ! -e "$2" ] || "$1" restore "$2" || exit 1
rm -f "$1"
)";

// $1 program, $2 state, $3 offset.
constexpr std::string_view kIsSkewed = R"(
seen=$("$1" offset "$2") || exit 1
echo "the host's clock is $seen s ahead"
awk "BEGIN { off = $seen - ($3); off *= off; exit !(off < 0.0625 && off * 4 < $3 * $3) }"
)";

constexpr std::string_view kIsRight = R"(
[ ! -e "$1" ] || { echo "the host's clock is still moved"; exit 1; }
echo "the host's clock is right, by its monotonic clock"
)";

// The program comes as text, since where a run put it is not known.
constexpr std::string_view kRestoreNow = R"(
program=
for state in /run/ordeal-clock-*; do
  [ -e "$state" ] || continue
  if [ -z "$program" ]; then
    program=$(mktemp) || exit 1
    trap 'rm -f "$program"' EXIT
    base64 -d > "$program" && chmod 700 "$program" || exit 1
  fi
  "$program" restore "$state" || exit 1
  echo "restored: the clock, moved by run ${state#/run/ordeal-clock-}"
done
)";

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  const std::string& offset = fault.parameters.at("offset");
  const auto place = [&](const ServerControl& control) {
    return place_of(control, battlefield.run_id);
  };
  return plan_per_server(
      fault, battlefield,
      fmt::format("clock of {} moved by {} s", fmt::join(fault.hosts, ", "), offset),
      {.inject =
           [&](const ServerControl& control) {
             Command skew = script(kSkew, {place(control).program, place(control).state, offset});
             skew.standard_input = clock_helper_base64();
             return skew;
           },
       .undo =
           [&](const ServerControl& control) {
             return script(kRestore, {place(control).program, place(control).state});
           },
       .effect =
           [&](const ServerControl& control) {
             return script(kIsSkewed, {place(control).program, place(control).state, offset});
           },
       .healed =
           [&](const ServerControl& control) { return script(kIsRight, {place(control).state}); }});
}

}  // namespace

std::string clock_helper_base64() {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::string_view bytes(
      ordeal_clock_helper_begin,
      static_cast<std::size_t>(ordeal_clock_helper_end - ordeal_clock_helper_begin));
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    unsigned group = 0;
    for (std::size_t i = at; i < at + 3; ++i) {
      group = group << 8 | (i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U);
    }
    for (int shift = 18; shift >= 0; shift -= 6) text += digits[group >> shift & 63U];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  text.replace(text.size() - padding, padding, padding, '=');
  return text;
}

Command restore_clock_now() {
  Command restore = script(kRestoreNow, {});
  restore.standard_input = clock_helper_base64();
  return restore;
}

FaultEntry host_clock_skew_fault() {
  return {.name = "host-clock-skew",
          .summary = "moves the wall clock of a whole host (clock_settime)",
          .need = FaultNeed::own_clock,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .typical = {.to_see = milliseconds(300), .to_heal = milliseconds(400)}};
}

}  // namespace ordeal
