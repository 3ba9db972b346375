#include "targets/mariadb/galera.h"

#include <fmt/format.h>

#include <vector>

namespace ordeal::mariadb {
namespace {

// A position is UUID:SEQNO; without data of the cluster's its seqno is -1, with half of them -2.
// What is told besides is whether gvwstate.dat is kept.
constexpr std::string_view kProgram = R"sh(
none=00000000-0000-0000-0000-000000000000
cd "$data" || exit 1

of_state() {
  sed -n "s/^$1: *//p" grastate.dat 2>/dev/null
}

position() {
  uuid=$(of_state uuid) seqno=$(of_state seqno)
  if [ -e sst_in_progress ]; then
    echo "$none:-2"
  elif [ "${uuid:-$none}" = $none ]; then
    echo "$none:-1"
  elif [ "${seqno:--1}" -ge 0 ]; then
    echo "$uuid:$seqno"
  else
    # It would listen where clients are let in, and pass for a member that runs.
    found=$(/usr/sbin/mariadbd --defaults-file="$directory/my.cnf" --disable-log-error \
      --skip-networking --wsrep-recover 2>&1 |
      sed -n 's/.*WSREP: Recovered position: *//p' | tail -n 1)
    echo "${found:-$none:-2}"
  fi
}

# Others may read the file at any time.
tell() {
  view=none
  [ ! -e gvwstate.dat ] || view=kept
  echo "$own $view" > "$directory/exchange/new" &&
    mv -f "$directory/exchange/new" "$directory/exchange/position"
}

serve() {
  mkdir -p "$directory/exchange" && tell && cat > "$directory/rsyncd.conf" <<END
use chroot = no
log file = /dev/null
[exchange]
path = $directory/exchange
read only = yes
hosts allow = $peers
END
  rsync --daemon --no-detach --address="$address" --port=$increment_port \
    --config="$directory/rsyncd.conf" &
  exchange=$!
}

# Anew each time: rsync takes a file of the same size and second for the same.
told_by() {
  rm -f "$directory/told"
  rsync --address="$address" --contimeout=1 --timeout=2 \
    "rsync://$1:$increment_port/exchange/position" "$directory/told" 2>/dev/null &&
    cat "$directory/told"
}

listens() {
  timeout 1 bash -c ': < "/dev/tcp/$0/$1"' "$1" "$2" 2>/dev/null
}

# Whether position $1, of the member at $2, is ahead of what this one has.
is_ahead() {
  [ "${1##*:}" -gt "${own##*:}" ] ||
    { [ "${1##*:}" = "${own##*:}" ] && expr "$2" '<' "$address" >/dev/null; }
}

# A server that accepts clients was in the cluster once. One that does not, yet, may wait for those
# of its last primary component.
joins() {
  for peer in $peers; do
    listens "$peer" $port && return 0
    [ -z "$gave_up" ] && [ -e gvwstate.dat ] && listens "$peer" $group_port && return 0
  done
  return 1
}

# Where all members are here, none of the last primary component is left, and what gvwstate.dat says
# is of no use: who brought it along to a cluster made anew would be refused.
makes_anew() {
  best=1
  for peer in $peers; do
    theirs=$(told_by "$peer") && [ -n "$theirs" ] || return 1
    [ "${theirs#* }" = none ] && ! is_ahead "${theirs% *}" "$peer" || best=
  done
  if [ -e gvwstate.dat ]; then
    rm -f gvwstate.dat
    tell
  fi
  [ -n "$best" ] && [ "${own##*:}" -ge -1 ]
}

choose() {
  anew=
  until joins; do
    if makes_anew; then
      anew=--wsrep-new-cluster
      [ ! -e grastate.dat ] || sed -i 's/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/' grastate.dat
      echo "Ordeal: no member runs, and none is ahead of $own: makes the cluster anew"
      return
    fi
    sleep 0.2
  done
  echo "Ordeal: joins $peer with position $own"
}

# Ends with the server, unless that found no cluster to be in.
gave_up=
while :; do
  own=$(position)
  serve
  choose
  kill $exchange
  wait $exchange
  from=
  [ "${own##*:}" -lt 0 ] || from=--wsrep-start-position=$own
  begin=$(($(wc -c < "$directory/mariadb.log") + 1))
  "$1" --defaults-file="$directory/my.cnf" $anew $from
  status=$?
  said=$(tail -c +$begin "$directory/mariadb.log" | grep -a 'wsrep::connect(.*failed')
  [ -n "$said" ] || exit $status
  echo "Ordeal: found no cluster to be in, and looks for one again"
  gave_up=1
done
)sh";

}  // namespace

SettingMap galera_settings(const ServerPlace& place, const std::vector<std::string>& addresses) {
  return {{"wsrep_on", "ON"},
          {"wsrep_provider", "/usr/lib/galera/libgalera_smm.so"},
          {"wsrep_cluster_name", "ordeal"},
          {"wsrep_cluster_address", fmt::format("gcomm://{}", fmt::join(addresses, ","))},
          {"wsrep_node_name", place.name},
          {"wsrep_node_address", place.address},
          {"wsrep_node_incoming_address", fmt::format("{}:{}", place.address, place.port)},
          {"wsrep_sst_method", "rsync"},
          {"wsrep_sst_receive_address", fmt::format("{}:{}", place.address, kCopyPort)},
          {"binlog_format", "ROW"},
          {"default_storage_engine", "InnoDB"},
          {"innodb_autoinc_lock_mode", "2"},
          // A member that is cut off is given up within seconds.
          {"wsrep_provider_options",
           fmt::format("gmcast.listen_addr=tcp://{0}:{1};ist.recv_addr={0}:{2};gcache.size=64M;"
                       "gmcast.time_wait=PT0.5S;gmcast.peer_timeout=PT1S;"
                       "evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;"
                       "evs.suspect_timeout=PT1.5S;evs.inactive_timeout=PT3S;"
                       "evs.install_timeout=PT3S;pc.wait_prim_timeout=PT15S",
                       place.address, kGroupPort, kIncrementPort)}};
}

std::string galera_program(const ServerPlace& place, const std::vector<std::string>& addresses) {
  std::vector<std::string> peers = addresses;
  std::erase(peers, place.address);
  return fmt::format(
      "#!/bin/sh\n"
      "# Decides how this member of a Galera cluster starts, and runs its server, $1.\n"
      "directory='{}'\ndata=$directory/data address={} peers='{}'\n"
      "port={} group_port={} increment_port={}\n{}",
      place.directory.string(), place.address, fmt::join(peers, " "), place.port, kGroupPort,
      kIncrementPort, kProgram);
}

}  // namespace ordeal::mariadb
