#include "targets/postgres/server_scripts.h"

#include <fmt/format.h>

#include <boost/algorithm/string/replace.hpp>

namespace ordeal::postgres {
namespace {

// Every script gets these: $1 the directory, $2 the binaries.
constexpr const char* kPrelude = R"sh(
set -u
directory=$1 binaries=$2
data=$(cd "$directory/data" 2>/dev/null && pwd -P) || data=
cd /
as_server() {
  if [ "$(id -u)" = 0 ]; then
    setpriv --reuid postgres --regid "$(id -g postgres)" --init-groups "$@"
  else
    "$@"
  fi
}
processes() {
  [ -n "$data" ] || return 0
  find /proc/[0-9]*/cwd -maxdepth 0 -printf '%h %l\n' 2>/dev/null |
    while read -r process cwd; do
      [ "$cwd" = "$data" ] && echo "${process#/proc/}"
    done
}
signal_all() {  # tries again until two looks agree, since a living postmaster forks
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
    sleep 0.05
  done
  echo "processes survived SIGKILL:" $all >&2
  return 1
}
lock() {  # two undos of one fault may come at once
  [ -d "$directory" ] && exec 9>>"$directory/lock" && flock -w 20 9
}
)sh";

// $3 address pattern of /proc/net/tcp, $4 postgresql.conf, $5 pg_hba.conf
constexpr const char* kInstall = R"sh(
[ -x "$binaries/postgres" ] && [ -x "$binaries/initdb" ] && [ -x "$binaries/pg_ctl" ] || exit 64
[ "$(id -u)" != 0 ] || id postgres >/dev/null 2>&1 || exit 66
grep -qiE "$3" /proc/net/tcp /proc/net/tcp6 2>/dev/null && exit 65
[ -e "$directory/data/PG_VERSION" ] && exit 67
umask 022
mkdir -p "$directory" || exit 1
[ "$(id -u)" != 0 ] || chown postgres: "$directory" || exit 1
echo +0 > "$directory/faketime" || exit 1
as_server "$binaries/initdb" -D "$directory/data" -U postgres --auth=trust --encoding=UTF8 \
  --locale=C >/dev/null || exit 1
as_server sh -c 'printf "%s" "$2" >> "$1/postgresql.conf" && printf "%s" "$3" > "$1/pg_hba.conf"' \
  sh "$directory/data" "$4" "$5"
)sh";

// $3 "faketime" or "". An already running server is left alone. What a kill left behind (a stale lock file, whose
// number may by now be another process's; orphaned backends) would keep PostgreSQL from starting.
constexpr const char* kStart = R"sh(
[ -n "$data" ] || { echo "there is no cluster in $directory" >&2; exit 1; }
lock || exit 1
postmaster=$(head -n 1 "$data/postmaster.pid" 2>/dev/null)
for process in $(processes); do
  [ "$process" = "$postmaster" ] && exit 0
done
kill_all || exit 1
rm -f "$data/postmaster.pid"
preload=
[ -z "$3" ] || for library in /usr/lib/*/faketime/libfaketimeMT.so.1; do
  [ -e "$library" ] && preload="LD_PRELOAD=$library FAKETIME_TIMESTAMP_FILE=$directory/faketime"
done
[ -z "$preload" ] || preload="$preload FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1"
as_server env $preload "$binaries/pg_ctl" start -W -s -D "$data" -l "$directory/postgres.log" \
  9>&- || exit 1
for try in $(seq 100); do
  [ -s "$data/postmaster.pid" ] && exit 0
  sleep 0.05
done
echo "postgres ended: $(tail -n 3 "$directory/postgres.log" 2>/dev/null)" >&2
exit 1
)sh";

constexpr const char* kStop = R"sh(
lock || exit 0
for mode in fast immediate; do
  [ -n "$(processes)" ] || break
  signal_all CONT
  as_server "$binaries/pg_ctl" stop -s -m $mode -t 10 -D "$data" 9>&- >&2
done
kill_all
)sh";

Command script(const ServerPlace& place, const char* body,
               std::initializer_list<std::string> more = {}) {
  Command command{.arguments = {"sh", "-c", std::string(kPrelude) + body, "postgres",
                                place.directory.string(), place.binaries.string()},
                  .standard_input = {},
                  .environment = {},
                  .user = {}};
  command.arguments.insert(command.arguments.end(), more);
  return command;
}

// A regular expression for lines of /proc/net/tcp and tcp6 about a socket that listens on this port, and
// on this IPv4 address (printed as a little-endian number) or on all.
std::string listening_pattern(const std::string& address, int port) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  std::string local = "0{8}|0{32}";
  if (std::sscanf(address.c_str(), "%u.%u.%u.%u", &a, &b, &c, &d) == 4) {
    local += fmt::format("|{:02X}{:02X}{:02X}{:02X}|0{{16}}FFFF0000{:02X}{:02X}{:02X}{:02X}", d, c, b,
                         a, d, c, b, a);
  } else {
    local = "[0-9A-F]+";
  }
  return fmt::format("^ *[0-9]+: ({}):{:04X} [0-9A-F]+:0000 0A ", local, port);
}

std::string setting(const std::string& name, const std::string& value) {
  return fmt::format("{} = '{}'\n", name, boost::replace_all_copy(value, "'", "''"));
}

}  // namespace

Command install_command(const ServerPlace& place, const std::string& postgresql_conf,
                        const std::string& pg_hba) {
  return script(place, kInstall,
                {listening_pattern(place.address, place.port), postgresql_conf, pg_hba});
}

Command stop_command(const ServerPlace& place) { return script(place, kStop); }

Command is_running_command(const ServerPlace& place) {
  return script(place, "[ -n \"$(processes)\" ]\n");
}

Command log_tail_command(const ServerPlace& place, int lines) {
  return {.arguments = {"tail", "-n", std::to_string(lines), place.log().string()},
          .standard_input = {},
          .environment = {},
          .user = {}};
}

ServerControl server_control(const ServerPlace& place) {
  ServerControl control;
  control.start = script(place, kStart, {place.faketime ? "faketime" : ""});
  control.kill = script(place, "kill_all\n");
  control.pause = script(place, "signal_all STOP\n");
  control.resume = script(place, "signal_all CONT\n");
  // Renamed into place: the server must never read half an offset.
  control.clock_offset = script(
      place, R"sh(umask 022; printf '%s\n' "$3" > "$1/faketime.new" && mv "$1/faketime.new" "$1/faketime")sh");
  control.port = place.port;
  return control;
}

std::string postgresql_conf(const ServerPlace& place,
                            const std::map<std::string, std::string>& settings) {
  // sockaddr_un holds 107 bytes; without a socket only tools on the host itself lose something.
  const std::string socket_directory =
      place.data().string().size() < 80 ? place.data().string() : "";
  std::string text = "\n# Ordeal\n" + setting("listen_addresses", place.address) +
                     setting("port", std::to_string(place.port)) +
                     setting("unix_socket_directories", socket_directory) +
                     setting("max_connections", "200") + setting("log_timezone", "UTC") +
                     setting("log_line_prefix", "%m [%p] ") + setting("log_destination", "stderr") +
                     setting("logging_collector", "off");
  for (const auto& [name, value] : settings) text += setting(name, value);
  return text;
}

std::string pg_hba(const std::string& control_address) {
  const bool version_6 = control_address.find(':') != std::string::npos;
  return fmt::format(
      "local all all trust\n"
      "host all all {}/{} trust\n",
      control_address, version_6 ? 128 : 32);
}

}  // namespace ordeal::postgres
