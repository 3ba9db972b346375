#include "targets/postgres/control_script.h"

#include "targets/control_script.h"

namespace ordeal::postgres {
namespace {

constexpr std::string_view kUsage =
    R"sh(# start BINARIES [faketime] | stop BINARIES | wipe BINARIES |
# clock-reading BINARIES PORT | commit BINARIES PORT | check BINARIES [NAME=VALUE...] |
# copy BINARIES CONNECTION SECONDS COPY_SECONDS CONFIGURATION [--no-sync] |
# replicating BINARIES PORT | members BINARIES PORT |
# follow BINARIES PORT CONNECTION SLOT | following BINARIES PORT CONNECTION SLOT
)sh";

// start: what a kill leaves behind would keep PostgreSQL from starting: orphaned backends, and lock
// files whose process number may by now be another process's, or a zombie's. pg_ctl itself must not
// run under libfaketime: it ends first, and takes with it the shared memory that its child would go
// on to use.
constexpr std::string_view kFunctions = R"sh(is_started() {
  postmaster=$(head -n 1 "$data/postmaster.pid" 2>/dev/null)
  for process in $(processes); do
    [ "$process" = "$postmaster" ] && return 0
  done
  return 1
}

start() {
  [ -d "$data" ] || { echo "there is no cluster in $directory" >&2; return 1; }
  lock || return 1
  is_started && return 0
  kill_all || return 1
  rm -f "$data/postmaster.pid" "$data"/.s.PGSQL.*
  program=$1/postgres
  [ -z "$2" ] || program=$(faked "$1/postgres")
  as_server "$1/pg_ctl" start -W -s -p "$program" -D "$data" -l "$directory/postgres.log" \
    9>&- || return 1
  for try in $(seq 100); do
    is_started && return 0
    sleep 0.05
  done
  echo "PostgreSQL ended at once: $(tail -n 3 "$directory/postgres.log" 2>/dev/null)" >&2
  return 1
}

stop() {
  lock || return 1
  for mode in fast immediate; do
    [ -n "$(processes)" ] || break
    signal_all CONT
    as_server "$1/pg_ctl" stop -s -m $mode -t 10 -D "$data" 9>&- >&2
  done
  kill_all || return 1
  # A server that was killed leaves its System V shared memory, named in line 7 of its lock file.
  memory=$(sed -n '7s/.* //p' "$data/postmaster.pid" 2>/dev/null)
  [ -z "$memory" ] || ipcrm -m "$memory" 2>/dev/null
  rm -f "$data/postmaster.pid"
}

wipe() {
  kill_all && stop "$1" &&
    rm -rf "$data" "$data".new.* "$directory/postgres.log"
}

# Each setting alone first, beside nothing but defaults, so that one can be blamed. Then the whole
# file: to compute shared_memory_size, which PostgreSQL 15 and later have, it goes through all that
# precedes starting.
check() {
  binaries=$1
  shift
  for setting in "$@"; do
    as_server "$binaries/postgres" -C data_directory -D "$data" -c config_file=/dev/null \
      -c log_line_prefix= -c "$setting" >/dev/null && continue
    echo "${setting%%=*}"
    return 68
  done
  [ $# = 0 ] || [ "$(cat "$data/PG_VERSION")" -lt 15 ] ||
    as_server "$binaries/postgres" -C shared_memory_size -D "$data" -c log_line_prefix= \
      -c log_min_messages=fatal >/dev/null || return 68
}

# Under another name until it is whole: a cluster that is there is never copied again. The warning
# is about the primary's socket.
copy() {
  [ ! -d "$data" ] || return 0
  new=$data.new.$$
  end=$(($(date +%s) + $3))
  until seen=$(as_server "$1/pg_isready" -t 2 -d "$2"); do
    [ "$(date +%s)" -lt "$end" ] || { echo "$seen" >&2; return 69; }
    sleep 0.1
  done
  seen=$(as_server timeout "$4" "$1/pg_basebackup" -d "$2" -D "$new" -R -X stream -c fast \
    ${6-} 2>&1)
  status=$?
  if [ $status = 0 ]; then
    as_server sh -c 'printf "%s" "$2" >> "$1/postgresql.conf"' sh "$new" "$5" &&
      mv -T "$new" "$data" && return 0
  fi
  rm -rf "$new"
  echo "$seen" | grep -v '^WARNING: *skipping special file' >&2
  [ $status != 124 ] || echo "pg_basebackup did not end within $4 s" >&2
  return 1
}

ask() {
  as_server timeout 2 "$1/psql" -X -h "$data" -p "$2" -U postgres -d postgres -Atc "$3"
}

replicating() {
  seen=$(ask "$1" "$2" 'SELECT status FROM pg_stat_wal_receiver') || return 1
  [ "$seen" = streaming ] && return 0
  echo "the standby receives nothing from the primary: ${seen:-no connection}" >&2
  return 1
}

# Of a primary the standbys that receive from it; of a standby that receives, the word primary.
members() {
  ask "$1" "$2" "SELECT application_name FROM pg_stat_replication WHERE state = 'streaming'
    UNION SELECT 'primary' FROM pg_stat_wal_receiver WHERE status = 'streaming'"
}

# On the server upstream, $2 being a connection string.
ask_upstream() {
  as_server timeout 5 "$1/psql" -X -v ON_ERROR_STOP=1 -d "$2" -Atc "$3"
}

# The tables, empty, and then a subscription to all of them, which copies what they hold. The slot
# is made by itself: CREATE SUBSCRIPTION, which would make it, could not be repeated.
follow() {
  held=$(ask "$1" "$2" 'SELECT 1 FROM pg_subscription') || return 1
  [ -z "$held" ] || return 0
  as_server "$1/pg_dump" --schema-only --no-publications -d "$3" > "$directory/schema.sql" &&
    as_server timeout 20 "$1/psql" -X -q -v ON_ERROR_STOP=1 -h "$data" -p "$2" -U postgres \
      -d postgres -f "$directory/schema.sql" >/dev/null || return 1
  ask_upstream "$1" "$3" "
    DO \$\$ BEGIN
      IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'ordeal') THEN
        CREATE PUBLICATION ordeal FOR ALL TABLES;
      END IF;
    END \$\$" >/dev/null &&
    ask_upstream "$1" "$3" "SELECT pg_create_logical_replication_slot('$4', 'pgoutput')" \
      >/dev/null &&
    ask "$1" "$2" "CREATE SUBSCRIPTION ordeal CONNECTION '$(echo "$3" | sed "s/'/''/g")'
      PUBLICATION ordeal WITH (create_slot = false, slot_name = '$4')" >/dev/null || return 1
  for try in $(seq 200); do
    left=$(ask "$1" "$2" "SELECT count(*) FROM pg_subscription_rel WHERE srsubstate <> 'r'")
    [ "$left" = 0 ] && return 0
    sleep 0.1
  done
  echo "tables that were not copied within 20 s: ${left:-unknown}" >&2
  return 1
}

# Whether it has all that is committed upstream at this moment.
following() {
  now=$(ask_upstream "$1" "$3" 'SELECT pg_current_wal_lsn()') || return 1
  for try in 1 2 3 4 5 6 7 8 9 10; do
    seen=$(ask_upstream "$1" "$3" "SELECT confirmed_flush_lsn >= '$now', confirmed_flush_lsn
      FROM pg_replication_slots WHERE slot_name = '$4'") || return 1
    [ "${seen%|*}" = t ] && return 0
    sleep 0.2
  done
  echo "the subscriber is at ${seen#*|} of the upstream's $now" >&2
  return 1
}

clock_reading() {
  there=$(ask "$1" "$2" 'SELECT extract(epoch FROM clock_timestamp())') || return 1
  here=$(date +%s.%N)
  awk "BEGIN { printf \"%+.3f\\n\", $there - $here }"
}

# Of all changes the one that nobody sees: a message in the log, which readers of tables pass over.
commit() {
  ask "$1" "$2" "SELECT pg_logical_emit_message(true, 'ordeal', '')"
}
)sh";

constexpr std::string_view kVerbs = R"sh(  start) start "$2" "${3-}" ;;
  stop) stop "$2" ;;
  wipe) wipe "$2" ;;
  check) shift && check "$@" ;;
  copy) shift && copy "$@" ;;
  replicating) replicating "$2" "$3" ;;
  members) members "$2" "$3" ;;
  follow) shift && follow "$@" ;;
  following) shift && following "$@" ;;
  commit) commit "$2" "$3" ;;
  clock-reading) clock_reading "$2" "$3" ;;
)sh";

}  // namespace

std::string control_script() {
  return ordeal::control_script({.name = "PostgreSQL",
                                 .user = "postgres",
                                 .usage = kUsage,
                                 .functions = kFunctions,
                                 .verbs = kVerbs});
}

}  // namespace ordeal::postgres
