#include "targets/etcd/control_script.h"

#include "targets/control_script.h"

namespace ordeal::etcd {
namespace {

constexpr std::string_view kUsage =
    R"sh(# start | stop | wipe | check [FLAG...] | commit URL | members URL
)sh";

constexpr std::string_view kFunctions = R"sh(
etcd=/usr/bin/etcd
export ETCDCTL_API=3

start() {
  [ -d "$data" ] || { echo "there is no member in $directory" >&2; return 1; }
  lock || return 1
  [ -z "$(processes)" ] || return 0
  set --
  while read -r flag; do set -- "$@" "$flag"; done < "$directory/flags"
  # No shell may wait for it here, which would be taken for a process of the server.
  (exec 9>&- && cd "$data" &&
    as_server setsid --fork "$etcd" "$@" </dev/null >>"$directory/etcd.log" 2>&1)
  for try in $(seq 100); do
    sleep 0.05
    [ -z "$(processes)" ] || return 0
  done
  echo "etcd ended at once: $(tail -n 3 "$directory/etcd.log" 2>/dev/null)" >&2
  return 1
}

# A leader hands over to another member first. Where the others have ended as well it would wait for
# that for seconds; it loses nothing by force.
stop() {
  lock || return 1
  signal_all TERM
  signal_all CONT
  for try in $(seq 20); do
    [ -n "$(processes)" ] || return 0
    sleep 0.1
  done
  kill_all
}

# Flags are read, and refused, before --version is obeyed.
check() {
  for flag in "$@"; do
    seen=$("$etcd" "$flag" --version 2>&1) && continue
    echo "$flag" | sed 's/^--//; s/=.*//'
    echo "$seen" | head -n 1 >&2
    return 68
  done
}

ask() {
  url=$1
  shift
  timeout 5 etcdctl --endpoints="$url" --dial-timeout=2s --command-timeout=4s "$@"
}

# A line has number, state, name, URLs for peers and for clients, and whether it is a learner; of a
# member that has not come up yet there is no name.
members() {
  seen=$(ask "$1" member list) || return 1
  echo "$seen" | awk -F ', ' '$2 == "started" { print $3 }'
}
)sh";

constexpr std::string_view kVerbs = R"sh(  start) start ;;
  stop) stop ;;
  wipe) kill_all && rm -rf "$data" "$directory/etcd.log" ;;
  check) shift && check "$@" ;;
  commit) ask "$2" put ordeal/commit '' ;;
  members) members "$2" ;;
)sh";

}  // namespace

std::string control_script() {
  return ordeal::control_script(
      {.name = "etcd", .user = "etcd", .usage = kUsage, .functions = kFunctions, .verbs = kVerbs});
}

}  // namespace ordeal::etcd
