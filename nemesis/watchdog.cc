#include "nemesis/watchdog.h"

#include "nemesis/plan.h"

namespace ordeal {
namespace {

// $0 is the mark it is found by, $1 seconds, $2 the undo. SIGTERM ends the wait, but not the work:
// undoing half would be worse than undoing late. `trap :` and not `trap ''`, since an ignored
// signal would be inherited by a server that the undo starts.
constexpr const char* kWatch = R"(
exec 3>&1 </dev/null >/dev/null 2>&1
trap 'kill "$sleeper"; exit 0' TERM
sleep "$1" 3>&- & sleeper=$!
echo armed >&3
exec 3>&-
wait "$sleeper"
trap : TERM
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

// $1 is the id. The mark is looked for as a whole argument (-x, -z: arguments end in NUL) and is
// read from stdin, so that neither this shell nor grep bears it.
constexpr const char* kDisarm = R"(
watchdogs() { printf '%s\n' "ordeal-watchdog:$1" | grep -lszxF -f - /proc/[0-9]*/cmdline; }
tries=0
while found=$(watchdogs "$1"); [ -n "$found" ]; do
  [ "$tries" -lt 200 ] || { echo "watchdog $1 does not end" >&2; exit 1; }
  for file in $found; do
    pid=${file#/proc/}
    kill -TERM "${pid%/cmdline}" 2>/dev/null
  done
  sleep 0.05
  tries=$((tries + 1))
done
)";

std::string quoted(const std::string& text) { return shell_line(command({text})); }

std::string undo_line(const Command& undo) {
  if (undo.standard_input.empty()) return shell_line(undo);
  return "printf %s " + quoted(undo.standard_input) + " | " + shell_line(undo);
}

// Runs every command, and fails when one failed.
std::string undo_script(const std::vector<Command>& undo) {
  std::string script = "status=0\n";
  for (const Command& each : undo) script += "{ " + undo_line(each) + "; } || status=1\n";
  return script + "exit $status\n";
}

std::string whole_seconds(std::chrono::milliseconds time) {
  return std::to_string(std::chrono::ceil<std::chrono::seconds>(time).count());
}

}  // namespace

Command arm_watchdog(const std::string& id, std::chrono::milliseconds deadline,
                     const std::vector<Command>& undo) {
  return command({"sh", "-c", kArm, "sh", id, whole_seconds(deadline), undo_script(undo), kWatch});
}

Command disarm_watchdog(const std::string& id) { return command({"sh", "-c", kDisarm, "sh", id}); }

}  // namespace ordeal
