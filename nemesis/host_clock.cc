#include "nemesis/host_clock.h"

#include <fmt/format.h>

#include <string_view>

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
// First ends what goes on moving it.
constexpr std::string_view kRestoreNow = R"(
tries=0
while found=$(grep -lsz '^ordeal-host-clock:' /proc/[0-9]*/cmdline); do
  [ "$tries" -lt 200 ] || { echo "what moves the clock does not end" >&2; exit 1; }
  for file in $found; do
    pid=${file#/proc/}
    kill -TERM "${pid%/cmdline}" 2>/dev/null
  done
  sleep 0.05
  tries=$((tries + 1))
done
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
  ORDEAL_TRY_ASSIGN(const std::string offset, offset_of(fault));
  FaultPlan result{
      .detail = fmt::format("clock of {} moved by {} s", fmt::join(fault.hosts, ", "), offset),
      .inject = {},
      .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const HostClock clock = host_clock_of(battlefield.server(*host), battlefield.run_id, name);
    Command skew = script(kSkew, {clock.program, clock.state, offset});
    skew.standard_input = clock_helper_base64();
    result.inject.push_back({name, {std::move(skew)}});
    result.undo.push_back({name, {restore_host_clock(clock)}});
    result.effect.push_back({name, {script(kIsSkewed, {clock.program, clock.state, offset})}});
    result.healed.push_back({name, {host_clock_is_right(clock)}});
  }
  return result;
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
  restore.title = "putting the clock right";
  restore.standard_input = clock_helper_base64();
  return restore;
}

// Programs cannot be run from everywhere below /run.
HostClock host_clock_of(const ServerControl& control, const std::string& run_id,
                        const std::string& host) {
  const std::string name = "ordeal-clock-" + run_id;
  return {.program = (control.directory / name).string(),
          .state = "/run/" + name,
          .mover = {"ordeal-host-clock", fmt::format("{}-{}", run_id, host)}};
}

AskedClock asked_clock(const HostClock& clock) {
  return {"the host's", command({clock.program, "offset", clock.state})};
}

Command restore_host_clock(const HostClock& clock) {
  return script(kRestore, {clock.program, clock.state});
}

Command host_clock_is_right(const HostClock& clock) { return script(kIsRight, {clock.state}); }

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
