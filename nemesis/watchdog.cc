#include "nemesis/watchdog.h"

#include "nemesis/plan.h"

namespace ordeal {
namespace {

// $0 is the mark it is found by, $1 seconds, $2 the undo. SIGTERM ends the wait, but not the work:
// undoing half would be worse than undoing late; SIGUSR1 only shortens the wait. `trap :` and not
// `trap ''`, since an ignored signal would be inherited by a server that the undo starts.
constexpr const char* kWatch = R"(
exec 3>&1 </dev/null >/dev/null 2>&1
trap 'kill "$sleeper"; exit 0' TERM
trap 'kill "$sleeper"' USR1
sleep "$1" 3>&- & sleeper=$!
echo armed >&3
exec 3>&-
wait "$sleeper"
trap : TERM USR1
tries=0
until sh -c "$2"; do
  tries=$((tries + 1))
  [ "$tries" -lt 10 ] || exit 1
  sleep 2
done
)";

// $1 is the id, $2 to $4 are the watchdog's seconds, undo and script. The substitution ends when
// the watchdog has said that it waits and closed its output.
constexpr const char* kArm = R"(
armed=$(setsid sh -c "$4" "ordeal-watchdog:$1" "$2" "$3" </dev/null 2>/dev/null &)
[ "$armed" = armed ] || { echo "the watchdog did not start; is setsid installed?" >&2; exit 1; }
)";

// $1 is the kind, $2 the id. The mark is looked for as a whole argument (-x, -z: arguments end in
// NUL) and is read from stdin, so that neither this shell nor grep bears it.
constexpr const char* kEnd = R"(
marked() { printf '%s:%s\n' "$1" "$2" | grep -lszxF -f - /proc/[0-9]*/cmdline; }
tries=0
while found=$(marked "$1" "$2"); [ -n "$found" ]; do
  [ "$tries" -lt 200 ] || { echo "$1 $2 does not end" >&2; exit 1; }
  for file in $found; do
    pid=${file#/proc/}
    kill -TERM "${pid%/cmdline}" 2>/dev/null
  done
  sleep 0.05
  tries=$((tries + 1))
done
)";

// All watchdogs, whoever armed them: an argument that begins with the mark. Prints what they are.
// Chains without a watchdog are what is left of one that was ended by force.
constexpr const char* kUndoNow = R"sh(
watchdogs() { grep -lsz '^ordeal-watchdog:' /proc/[0-9]*/cmdline; }
for file in $(watchdogs); do
  mark=$(tr '\0' '\n' < "$file" 2>/dev/null | grep '^ordeal-watchdog:') || continue
  pid=${file#/proc/}
  kill -USR1 "${pid%/cmdline}" 2>/dev/null && echo "undone: ${mark#ordeal-watchdog:}"
done
tries=0
while [ -n "$(watchdogs)" ]; do
  [ "$tries" -lt 600 ] || { echo "an undo does not end, or does not work" >&2; exit 1; }
  sleep 0.05
  tries=$((tries + 1))
done
slow() { grep -lsz '^ordeal-slow:' /proc/[0-9]*/cmdline; }
for file in $(slow); do
  mark=$(tr '\0' '\n' < "$file" 2>/dev/null | grep '^ordeal-slow:') || continue
  pid=${file#/proc/}
  kill -TERM "${pid%/cmdline}" 2>/dev/null && echo "ended: what slowed a disk, $mark"
done
tries=0
while [ -n "$(slow)" ]; do
  [ "$tries" -lt 200 ] || { echo "what slows a disk does not end" >&2; exit 1; }
  sleep 0.05
  tries=$((tries + 1))
done
for program in iptables ip6tables; do
  for chain in $("$program" -w 5 -S 2>/dev/null | sed -n 's/^-N \(ORDEAL-.*\)/\1/p'); do
    for hook in INPUT OUTPUT; do
      while "$program" -w 5 -D "$hook" -j "$chain" 2>/dev/null; do :; done
    done
    "$program" -w 5 -F "$chain" && "$program" -w 5 -X "$chain" && echo "removed: chain $chain"
  done
done
tc qdisc show 2>/dev/null | sed -n 's/^qdisc htb d...: dev \([^ ]*\) root.*/\1/p' |
  while read -r device; do
    tc qdisc del dev "$device" root && echo "removed: queueing discipline of $device"
  done
exit 0
)sh";

std::string whole_seconds(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace

Command arm_watchdog(const std::string& id, std::chrono::milliseconds deadline,
                     const std::vector<Command>& undo) {
  return command(
      {"sh", "-c", kArm, "sh", id, whole_seconds(deadline), shell_line(each_of(undo)), kWatch});
}

Command end_marked(const std::string& kind, const std::string& id) {
  return command({"sh", "-c", kEnd, "sh", kind, id});
}

Command disarm_watchdog(const std::string& id) { return end_marked("ordeal-watchdog", id); }

Command undo_now() {
  Command undo = script(kUndoNow, {});
  undo.title = "letting the watchdogs undo";
  return undo;
}

}  // namespace ordeal
