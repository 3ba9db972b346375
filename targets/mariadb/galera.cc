#include "targets/mariadb/galera.h"

#include <fmt/format.h>

#include <vector>

namespace ordeal::mariadb {
namespace {

// A position is UUID:SEQNO; without data of the cluster's its seqno is -1, with half of them -2.
constexpr std::string_view kProgram = R"sh(
server=$1
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
    found=$(/usr/sbin/mariadbd --defaults-file="$directory/my.cnf" --disable-log-error \
      --wsrep-recover 2>&1 | sed -n 's/.*WSREP: Recovered position: *//p' | tail -n 1)
    echo "${found:-$none:-2}"
  fi
}

# Others may read the file at any time.
publish() {
  mkdir -p "$directory/exchange" && echo "$1" > "$directory/exchange/new" &&
    mv -f "$directory/exchange/new" "$directory/exchange/position"
  cat > "$directory/rsyncd.conf" <<END
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

position_of() {
  rsync --address="$address" --contimeout=1 --timeout=2 \
    "rsync://$1:$increment_port/exchange/position" "$directory/position-of-peer" 2>/dev/null &&
    cat "$directory/position-of-peer"
}

runs() {
  timeout 1 bash -c ': < "/dev/tcp/$0/$1"' "$1" $group_port 2>/dev/null
}

# Whether $1, of the member at $2, is ahead of what this one has.
is_ahead() {
  [ "${1##*:}" -gt "${own##*:}" ] ||
    { [ "${1##*:}" = "${own##*:}" ] && expr "$2" '<' "$address" >/dev/null; }
}

is_most_advanced() {
  [ "${own##*:}" -ge -1 ] || return 1
  for peer in $peers; do
    theirs=$(position_of "$peer") && [ -n "$theirs" ] || return 1
    ! is_ahead "$theirs" "$peer" || return 1
  done
}

choose() {
  for peer in $peers; do
    if runs "$peer"; then
      echo "Ordeal: joins $peer with position $own"
      return 0
    fi
  done
  is_most_advanced || return 1
  echo "Ordeal: no member runs, and none is ahead of $own: makes the cluster anew"
  anew=--wsrep-new-cluster
}

own=$(position)
anew=
if [ "$(of_state safe_to_bootstrap)" = 1 ]; then
  echo "Ordeal: was the last to leave, at $own: makes the cluster anew"
  anew=--wsrep-new-cluster
else
  publish "$own"
  until choose; do sleep 0.2; done
  kill $exchange
  wait $exchange
fi
if [ -n "$anew" ]; then
  rm -f gvwstate.dat
  [ ! -e grastate.dat ] || sed -i 's/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/' grastate.dat
fi
set --
[ "${own##*:}" -lt 0 ] || set -- --wsrep-start-position="$own"
exec "$server" --defaults-file="$directory/my.cnf" $anew "$@"
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
          // A member that is cut off is given up within seconds, and one that has lost the others
          // waits for them instead of ending.
          {"wsrep_provider_options",
           fmt::format("gmcast.listen_addr=tcp://{0}:{1};ist.recv_addr={0}:{2};gcache.size=64M;"
                       "gmcast.time_wait=PT0.5S;gmcast.peer_timeout=PT1S;"
                       "evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;"
                       "evs.suspect_timeout=PT1.5S;evs.inactive_timeout=PT3S;"
                       "evs.install_timeout=PT3S;pc.wait_prim_timeout=PT1H",
                       place.address, kGroupPort, kIncrementPort)}};
}

std::string galera_program(const ServerPlace& place, const std::vector<std::string>& addresses) {
  std::vector<std::string> peers = addresses;
  std::erase(peers, place.address);
  return fmt::format(
      "#!/bin/sh\n"
      "# Decides how this member of a Galera cluster starts, and becomes the server $1.\n"
      "directory='{}'\ndata=$directory/data address={} peers='{}'\n"
      "group_port={} increment_port={}\n{}",
      place.directory.string(), place.address, fmt::join(peers, " "), kGroupPort, kIncrementPort,
      kProgram);
}

}  // namespace ordeal::mariadb
