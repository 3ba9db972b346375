#include "targets/control_script.h"

#include <fmt/format.h>

namespace ordeal {
namespace {

// clock: the file is renamed into place, since the server must never read half an offset. The
// server notices within two seconds: reading the file at every look at the clock
// (FAKETIME_NO_CACHE) would cost PostgreSQL almost half of its throughput.
constexpr std::string_view kCommonFunctions = R"sh(set -u
directory=$(cd "$(dirname "$0")" && pwd -P) || exit 1
data=$directory/data
cd /

as_server() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid "$user" --regid "$(id -g "$user")" --init-groups "$@"
  else
    "$@"
  fi
}

processes() {
  find /proc/[0-9]*/cwd -maxdepth 0 -printf '%h %l\n' 2>/dev/null |
    while read -r process cwd; do
      case $cwd in
        "$data"|"$data"/*) echo "${process#/proc/}" ;;
      esac
    done
}

# Until two looks agree, since a living postmaster forks.
signal_all() {
  before=none
  for try in 1 2 3 4 5 6 7 8 9 10; do
    now=$(processes | sort | tr '\n' ' ')
    [ "$now" = "$before" ] && return 0
    [ -z "$now" ] || kill -s "$1" $now 2>/dev/null
    before=$now
  done
}

kill_all() {
  for try in $(seq 100); do
    all=$(processes)
    [ -n "$all" ] || return 0
    kill -s KILL $all 2>/dev/null
    for process in $all; do  # what libfaketime leaves of a killed process
      rm -f "/dev/shm/faketime_shm_$process" "/dev/shm/sem.faketime_sem_$process"
    done
    sleep 0.05
  done
  echo "processes survived SIGKILL:" $all >&2
  return 1
}

# Two undos of one fault may come at once. Servers must not inherit the lock: 9>&-.
lock() {
  exec 9>>"$directory/lock" && flock -w 20 9
}

# Prints the program to start in place of $1, which runs that under libfaketime.
faked() {
  for library in /usr/lib/*/faketime/libfaketimeMT.so.1; do
    [ -e "$library" ] || continue
    cat > "$directory/faked-${1##*/}" <<END
#!/bin/sh
export LD_PRELOAD="$directory/real-waits.so:$library" FAKETIME_TIMESTAMP_FILE="$directory/faketime"
export FAKETIME_CACHE_DURATION=1 DONT_FAKE_MONOTONIC=1
exec "$1" "\$@"
END
    chmod 755 "$directory/faked-${1##*/}" && echo "$directory/faked-${1##*/}"
    return
  done
  echo "$1"
}

state() {
  stopped='' moving=''
  for process in $(processes); do
    case $(sed 's/.*) //' "/proc/$process/stat" 2>/dev/null) in
      T*|t*) stopped=1 ;;
      ?*) moving=1 ;;
    esac
  done
  case $stopped/$moving in
    /) echo absent ;;
    1/) echo stopped ;;
    /1) echo running ;;
    *) echo mixed ;;
  esac
}

# Field 22 of stat is when a process began, in ticks since the machine did.
age() {
  files=$(processes | sed 's|.*|/proc/&/stat|')
  [ -n "$files" ] || { echo "there is no process" >&2; return 1; }
  read -r uptime idle < /proc/uptime
  cat $files 2>/dev/null | awk -v now="$uptime" -v hertz="$(getconf CLK_TCK)" '
    { sub(/.*\) /, ""); age = now - $20 / hertz; if (age > oldest) oldest = age }
    END { printf "%.2f\n", oldest }'
}
)sh";

constexpr std::string_view kCommonVerbs = R"sh(  kill) kill_all ;;
  pause) signal_all STOP ;;
  resume) signal_all CONT ;;
  as-server) shift && as_server "$@" ;;
  running) [ -n "$(processes)" ] ;;
  state) state ;;
  age) age ;;
  processes) processes ;;
  clock)
    umask 022
    printf '%s\n' "$2" > "$directory/faketime.new" &&
      mv -f "$directory/faketime.new" "$directory/faketime"
    ;;
  *) echo "$0: unknown verb $1" >&2; exit 64 ;;
esac
)sh";

}  // namespace

std::string control_script(const ControlScript& system) {
  return fmt::format(
      "#!/bin/sh\n"
      "# Controls the {} server in this directory: sh control VERB [ARGUMENT...]\n"
      "# kill | pause | resume | running | clock OFFSET | state | age | processes |\n"
      "# as-server PROGRAM [ARGUMENT...] |\n{}"
      "user={}\n{}\n{}\ncase $1 in\n{}{}",
      system.name, system.usage, system.user, kCommonFunctions, system.functions, system.verbs,
      kCommonVerbs);
}

}  // namespace ordeal
