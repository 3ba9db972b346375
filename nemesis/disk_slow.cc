// Fault `disk-slow`: strace delays the system calls by which the server writes and syncs files
// (strace(1), "Syscall Tampering"). It needs no file system or block device that could be
// throttled, and leaves the server's files alone. It looks at every system call, so the server as a
// whole is somewhat slower, too.
//
// When strace ends, however it does, the kernel lets go of what it traced (ptrace(2), "Death under
// ptrace"), and a delay that had begun is over.
#include <fmt/format.h>

#include "nemesis/disk.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"
#include "nemesis/watchdog.h"

namespace ordeal {
namespace {

constexpr std::int64_t kDelayMax_ms = 5000;

constexpr std::string_view kCallChoices[] = {"sync", "write"};
constexpr std::string_view kSyncs = "fsync,fdatasync,sync_file_range,syncfs,msync";
// write() itself is not among them, since it serves sockets and pipes as well.
constexpr std::string_view kWrites = ",pwrite64,pwritev,pwritev2";

constexpr OptionSpec kOptions[] = {
    kHostsOption,
    kRoleOption,
    {.name = "max-delay",
     .type = OptionType::duration,
     .default_value = "200ms",
     .summary = "each call takes longer by at most this, and at least half of it",
     .minimum = 20,
     .maximum = kDelayMax_ms},
    {.name = "calls",
     .default_value = "write",
     .summary =
         "which calls: syncs (fsync, fdatasync, ...) alone, or writes at an offset (pwrite64, "
         "...) as well",
     .choices = kCallChoices},
};

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  const auto delay_max = options.duration("max-delay").count();
  const auto delay = random.between(delay_max / 2, delay_max);
  return {.name = "disk-slow",
          .hosts = draw_servers(options, terrain, random),
          .parameters = {{"calls", options.text("calls")}, {"delay", std::to_string(delay)}}};
}

// $1 id, $2 calls, $3 microseconds, $4 log, $5 a shell line that prints the server's processes. The
// mark becomes strace's name, and no shell bears it, as with watchdogs (nemesis/watchdog.h). What
// was forked while strace attached to its parent is found in the next round.
constexpr std::string_view kSlow = R"sh(
mark=ordeal-slow:$1 calls=$2 delay_us=$3 log=$4 processes=$5
untraced() {
  for process in "$@"; do
    awk '/^State:/ { zombie = $2 == "Z" } /^TracerPid:/ { traced = $2 }
      END { exit zombie || traced }' "/proc/$process/status" 2>/dev/null && echo "$process"
  done
}
(umask 077 && : >> "$log") || exit 1
for round in 1 2 3 4 5; do
  found=$(untraced $(eval "$processes"))
  [ -n "$found" ] || exit 0
  setsid bash -c 'exec -a "$0" strace "$@"' "$mark" -f -A -qqq -T -e "trace=$calls" \
    -e signal=none -e "inject=$calls:delay_enter=$delay_us" -o "$log" -p "$found" \
    </dev/null >/dev/null 2>>"$log" &
  tries=0
  while left=$(untraced $found); [ -n "$left" ]; do
    [ "$tries" -lt 60 ] ||
      { echo "strace could not attach to processes" $left: "$(tail -n 1 "$log")" >&2; exit 1; }
    sleep 0.05
    tries=$((tries + 1))
  done
done
echo "the server has new processes all the time, which strace does not get hold of" >&2
exit 1
)sh";

// $1 log, $2 milliseconds, $3 a shell line that commits. Of a call that is in two lines, the second
// one has the time. A twentieth is the tolerance, for the kernel's timers.
constexpr std::string_view kIsSlow = R"sh(
[ -e "$1" ] || { echo "there is no log of delayed calls"; exit 1; }
now() { awk '{ printf "%d", $1 * 1000 }' /proc/uptime; }
before=$(now)
if eval "$3" >/dev/null 2>&1; then commit="a commit took $(($(now) - before)) ms"
else commit="no commit succeeded"; fi
awk -v delay="$2" -v commit="$commit" '
  /\(DELAYED\)/ && match($0, /<[0-9]+\.[0-9]+>/) {
    took = 1000 * substr($0, RSTART + 1, RLENGTH - 2)
    if (!calls++ || took < least) least = took
  }
  END {
    if (!calls) { print "none of the calls of the server was delayed"; exit 1 }
    printf "%d calls of the server took %d ms at least; %s\n", calls, least, commit
    exit least < delay * 0.95
  }' "$1"
)sh";

// $1 id, $2 a shell line that prints the processes.
constexpr std::string_view kIsFast = R"sh(
if printf 'ordeal-slow:%s\n' "$1" | grep -qszxF -f - /proc/[0-9]*/cmdline; then
  echo "strace still delays calls of the server"
  exit 1
fi
for process in $(eval "$2"); do
  tracer=$(sed -n 's/^TracerPid:[[:space:]]*//p' "/proc/$process/status" 2>/dev/null)
  case $tracer in ''|0) ;; *) echo "process $process of the server is traced"; exit 1 ;; esac
done
echo "nothing traces the server"
)sh";

Status check_known(const Fault& fault, const Battlefield& battlefield) {
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    if (!battlefield.server(*host).processes.arguments.empty()) continue;
    return bad_input("fault {} on host {}: it is not known which processes are the server's",
                     fault.name, name);
  }
  return {};
}

Result<std::string> calls_of(const Fault& fault) {
  const std::string& text = fault.parameters.at("calls");
  if (text == "sync") return std::string(kSyncs);
  if (text == "write") return fmt::format("{}{}", kSyncs, kWrites);
  return bad_input("fault {}: calls={}: expected sync or write", fault.name, text);
}

// Hosts of a lab of processes share one machine, so the host is part of the id.
std::string id_of(const Battlefield& battlefield, const std::string& host) {
  return battlefield.run_id + "-" + host;
}

std::string log_of(const ServerControl& control, const Battlefield& battlefield) {
  return (control.directory / ("ordeal-slow-" + battlefield.run_id)).string();
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const double delay_ms, number_of(fault, "delay", 1, kDelayMax_ms));
  ORDEAL_TRY_ASSIGN(const std::string calls, calls_of(fault));
  ORDEAL_TRY(check_known(fault, battlefield));
  const std::string delay = fmt::format("{:.0f}", delay_ms);
  FaultPlan result{.detail = fmt::format("each {} of the database on {} takes {} ms longer",
                                         calls == kSyncs ? "sync" : "write and sync",
                                         fmt::join(fault.hosts, ", "), delay),
                   .inject = {},
                   .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const ServerControl control = battlefield.server(*host);
    const std::string id = id_of(battlefield, name);
    const std::string log = log_of(control, battlefield);
    const std::string processes = shell_line(control.processes);
    result.inject.push_back({name, {script(kSlow, {id, calls, delay + "000", log, processes})}});
    result.undo.push_back(
        {name, {all_of({end_marked("ordeal-slow", id), command({"rm", "-f", log})})}});
    result.effect.push_back({name, {script(kIsSlow, {log, delay, shell_line(control.commit)})}});
    result.healed.push_back({name, {script(kIsFast, {id, processes})}});
  }
  return result;
}

}  // namespace

FaultEntry disk_slow_fault() {
  return {.name = "disk-slow",
          .summary = "makes each write and sync of the database take longer (strace)",
          .need = FaultNeed::tracing,
          .options = kOptions,
          .draw = draw,
          .plan = plan};
}

}  // namespace ordeal
