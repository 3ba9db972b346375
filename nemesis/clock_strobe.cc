#include <fmt/format.h>

#include "nemesis/clock_skew.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"
#include "nemesis/watchdog.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

// Longer ones are not seen within the time for it.
constexpr std::int64_t kPeriodMax_ms = 2500;

constexpr OptionSpec kOptions[] = {
    kHostsOption,
    kRoleOption,
    kJumpOption,
    kMaxOffsetOption,
    {.name = "period",
     .type = OptionType::duration,
     .default_value = "2s",
     .summary = "how long the clock stays wrong, and then right; servers may take a second to "
                "notice; at most 2500ms",
     .minimum = 100,
     .maximum = kPeriodMax_ms},
};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  return draw_strobe("clock-strobe", options, terrain, random);
}

// A detached shell on the host, known by one argument, as watchdogs are (nemesis/watchdog.h). It
// ends between two commands, never within one, and by itself after an hour.
// $1 seconds, $2 and $3 are shell lines: wrong and right.
constexpr std::string_view kStrobe = R"sh(
trap 'kill "$sleeper" 2>/dev/null; exit 0' TERM
end=$(($(date +%s) + 3600))
while [ "$(date +%s)" -lt "$end" ]; do
  for line in "$2" "$3"; do
    eval "$line"
    sleep "$1" & sleeper=$!
    wait "$sleeper"
  done
done
)sh";

// $1 id, $2 seconds, $3 wrong, $4 right, $5 the strobe. Nothing where it is there already. The mark
// is looked for as a whole argument, and read from stdin, so that no shell here bears it.
constexpr std::string_view kBegin = R"sh(
printf 'ordeal-strobe:%s\n' "$1" | grep -qszxF -f - /proc/[0-9]*/cmdline && exit 0
setsid sh -c "$5" "ordeal-strobe:$1" "$2" "$3" "$4" </dev/null >/dev/null 2>&1 &
)sh";

// $1 kind, $2 id.
constexpr std::string_view kIsGone = R"sh(
if printf '%s:%s\n' "$1" "$2" | grep -qszxF -f - /proc/[0-9]*/cmdline; then
  echo "there is a process that moves the clock"
  exit 1
fi
echo "nothing moves the clock"
)sh";

// $1 kind, $2 id, $3 whose clock, $4 a shell line that prints its offset, $5 the wrong one, $6 for
// how many tenths of a second to look. The tolerances are those of clock_is().
constexpr std::string_view kIsStrobed = R"sh(
printf '%s:%s\n' "$1" "$2" | grep -qszxF -f - /proc/[0-9]*/cmdline ||
  { echo "nothing moves the clock"; exit 1; }
wrong='' right=''
for try in $(seq "$6"); do
  seen=$(eval "$4" 2>/dev/null) && case $(awk "BEGIN {
    wrong = $seen - ($5); wrong *= wrong; right = $seen * $seen; size = $5 * $5
    print (wrong < 0.0625 && wrong * 4 < size) ? \"wrong\" : \
          (right < 0.0625 && right * 4 < size) ? \"right\" : \"between\" }") in
    wrong) wrong=$seen ;;
    right) right=$seen ;;
  esac
  [ -z "$wrong" ] || [ -z "$right" ] || break
  sleep 0.1
done
echo "$3 clock is ${wrong:-never $5} s ahead, then ${right:-never right}"
[ -n "$wrong" ] && [ -n "$right" ]
)sh";

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double period_ms, number_of(fault, "period", 100, kPeriodMax_ms));
  ORDEAL_TRY_ASSIGN(const std::string offset, offset_of(fault));
  FaultPlan result{
      .detail = fmt::format("clock of the database on {} moved by {} s, and back, every {:.0f} ms",
                            fmt::join(fault.hosts, ", "), offset, period_ms),
      .inject = {},
      .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const ServerControl control = battlefield.server(*host);
    // Hosts of a lab of processes share one machine, so the host is part of the id.
    const ClockMover strobe{"ordeal-strobe", fmt::format("{}-{}", battlefield.run_id, name)};
    const std::string right = shell_line(set_server_clock(control, "+0"));
    const std::string wrong = shell_line(set_server_clock(control, offset));
    result.inject.push_back({name,
                             {script(kBegin, {strobe.id, fmt::format("{:.3f}", period_ms / 1000),
                                              wrong, right, std::string(kStrobe)})}});
    result.undo.push_back(
        {name, {all_of({end_marked(strobe.kind, strobe.id), set_server_clock(control, "+0")})}});
    result.effect.push_back(
        {name, {is_strobed({"the server's", control.clock_reading}, strobe, offset, period_ms)}});
    result.healed.push_back({name, {clock_is(control, "+0", true), is_gone(strobe)}});
  }
  return result;
}

}  // namespace

Fault draw_strobe(std::string name, const Options& options, const Terrain& terrain,
                  Random& random) {
  std::string offset = draw_offset(options, random);
  return {.name = std::move(name),
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"offset", std::move(offset)},
                         {"period", std::to_string(options.duration("period").count())}}};
}

Command is_strobed(const AskedClock& clock, const ClockMover& mover, const std::string& offset,
                   double period_ms) {
  const auto tenths = static_cast<int>(period_ms / 50) + 20;
  return script(kIsStrobed, {mover.kind, mover.id, clock.whose, shell_line(clock.reading), offset,
                             std::to_string(tenths)});
}

Command is_gone(const ClockMover& mover) { return script(kIsGone, {mover.kind, mover.id}); }

FaultEntry clock_strobe_fault() {
  return {.name = "clock-strobe",
          .summary = "moves the database's wall clock to and fro (libfaketime)",
          .need = FaultNeed::faketime,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .typical = {.to_see = milliseconds(3200), .to_heal = milliseconds(1300)}};
}

}  // namespace ordeal
