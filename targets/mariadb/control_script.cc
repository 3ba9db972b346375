#include "targets/mariadb/control_script.h"

#include "targets/control_script.h"

namespace ordeal::mariadb {
namespace {

constexpr std::string_view kUsage = R"sh(# start [faketime] | stop | wipe | check [NAME=VALUE...] |
# clock-reading | commit | following | members
)sh";

// The file `pid` has the number of the server, which is the number of whatever was started in its
// place before it.
constexpr std::string_view kFunctions = R"sh(
server=/usr/sbin/mariadbd

is_started() {
  started=$(cat "$directory/pid" 2>/dev/null)
  for process in $(processes); do
    [ "$process" = "$started" ] && return 0
  done
  return 1
}

# Runs a program as the server, in its place and under its number, until the program is replaced.
launch() {
  as_server setsid --fork sh -c 'cd "$1/data" && echo $$ > "$1/pid" || exit 1
    log=$1/mariadb.log; shift; exec "$@" >> "$log" 2>&1' sh "$directory" "$@" \
    </dev/null >/dev/null 2>&1 9>&- || return 1
  for try in $(seq 100); do
    is_started && return 0
    sleep 0.05
  done
  echo "MariaDB ended at once: $(tail -n 3 "$directory/mariadb.log" 2>/dev/null)" >&2
  return 1
}

start() {
  [ -d "$data/mysql" ] || { echo "there are no data in $directory" >&2; return 1; }
  lock || return 1
  is_started && return 0
  kill_all || return 1
  rm -f "$directory/pid"
  program=$server
  [ -z "$1" ] || program=$(faked "$server")
  if [ -e "$directory/galera" ]; then
    launch sh "$directory/galera" "$program"
  else
    launch "$program" --defaults-file="$directory/my.cnf"
  fi
}

# A member that left a minority in an orderly way would forget who else belonged to the cluster, and
# after it the others would wait in vain: gvwstate.dat, which is for that, outlives a kill only.
# What runs a member's server ends with it.
stop() {
  lock || return 1
  signal_all CONT
  [ ! -e "$directory/galera" ] || [ "$(status wsrep_cluster_status)" = Primary ] || kill_all
  for process in $(processes); do
    [ "$(cat "/proc/$process/comm" 2>/dev/null)" != mariadbd ] || kill -s TERM "$process"
  done
  for try in $(seq 200); do
    is_started || break
    sleep 0.05
  done
  kill_all
}

wipe() {
  kill_all && rm -rf "$data" "$directory/tmp" "$directory/exchange" "$directory/mariadb.log" \
    "$directory/pid"
}

# MariaDB reads its settings, then tells about all of them, and does not start. As an error is taken
# also what it would change.
check() {
  for setting in "$@"; do
    seen=$(as_server "$server" --no-defaults --"$setting" --help --verbose 2>&1 >/dev/null |
      grep -E '\[ERROR\]|adjusted to' | head -n 1)
    [ -n "$seen" ] || continue
    echo "${setting%%=*}"
    echo "$seen" | sed 's/.*\[[A-Z][A-Za-z]*\] //; s/^[^ ]*mariadbd: //' >&2
    return 68
  done
}

# As root of the server; "ask USER SQL" as another user.
ask() {
  user_there=root
  [ $# = 1 ] || { user_there=$1; shift; }
  as_server timeout 2 mariadb --no-defaults -S "$data/socket" -u "$user_there" -BNe "$1"
}

status() {
  ask "SHOW STATUS LIKE '$1'" | cut -f 2
}

clock_reading() {
  there=$(ask 'SELECT UNIX_TIMESTAMP(NOW(6))') || return 1
  here=$(date +%s.%N)
  awk "BEGIN { printf \"%+.3f\\n\", $there - $here }"
}

# By a user who cannot write to a replica. Each server has a row of its own.
commit() {
  ask committer 'INSERT INTO ordeal.durable VALUES (@@server_id, 1)
    ON DUPLICATE KEY UPDATE changes = changes + 1'
}

# Of SHOW SLAVE STATUS the value of a column.
replication() {
  as_server timeout 2 mariadb --no-defaults -S "$data/socket" -u root -e 'SHOW SLAVE STATUS\G' |
    sed -n "s/^ *$1: //p"
}

following() {
  receives=$(replication Slave_IO_Running) && applies=$(replication Slave_SQL_Running) || return 1
  [ "$receives/$applies" = Yes/Yes ] && return 0
  why=$(replication Last_IO_Error)$(replication Last_SQL_Error)
  echo "the replica does not receive and apply what the primary writes (receives: $receives," \
    "applies: $applies): $why" >&2
  return 1
}

members() {
  if [ -e "$directory/galera" ]; then
    view=$(status wsrep_incoming_addresses)
    [ -n "$view" ] || return 1
    echo "$view" | tr , '\n' | sed -n 's/^\(..*\):[0-9]*$/address \1/p'
    return 0
  fi
  ask 'SELECT CONCAT("name ", @@report_host)' || return 1
  ask 'SHOW SLAVE HOSTS' | awk '{ print "name " $2 }'
  [ "$(replication Slave_IO_Running)/$(replication Slave_SQL_Running)" != Yes/Yes ] ||
    echo primary
}
)sh";

constexpr std::string_view kVerbs = R"sh(  start) start "${2-}" ;;
  stop) stop ;;
  wipe) wipe ;;
  check) shift && check "$@" ;;
  clock-reading) clock_reading ;;
  commit) commit ;;
  following) following ;;
  members) members ;;
)sh";

}  // namespace

std::string control_script() {
  return ordeal::control_script({.name = "MariaDB",
                                 .user = "mysql",
                                 .usage = kUsage,
                                 .functions = kFunctions,
                                 .verbs = kVerbs});
}

}  // namespace ordeal::mariadb
