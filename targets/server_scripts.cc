#include "targets/server_scripts.h"

#include <fmt/format.h>

#include <boost/algorithm/string/join.hpp>
#include <cstdio>
#include <utility>

#include "targets/real_waits_library.h"

namespace ordeal {
namespace {

// The marker is made only where there is no data yet: what is wiped later is ours. It comes before
// the data, so that what is half made is ours as well.
//
// $1 directory, $2 control script, $3 user, $4 programs needed, $5 lines of a port and a pattern of
// /proc/net/tcp, $6 argument of `wipe`
constexpr std::string_view kPrepare = R"sh(
directory=$1 control=$2 user=$3
marker=$directory/made-by-ordeal
cd /
as_server() {
  sh "$directory/control" as-server "$@"
}
wipe() {
  printf '%s' "$control" > "$directory/control" && sh "$directory/control" wipe "$1"
}
for program in $4; do
  [ -x "$program" ] || exit 64
done
[ "$(id -u)" != 0 ] || id "$user" >/dev/null 2>&1 || exit 66
umask 022
[ ! -e "$marker" ] || wipe "$6" || exit 1
echo "$5" | while read -r port pattern; do
  grep -qiE "$pattern" /proc/net/tcp /proc/net/tcp6 2>/dev/null && echo "$port" && exit 65
done
[ $? != 65 ] || exit 65
[ -n "$(ls -A "$directory/data" 2>/dev/null)" ] && exit 67
mkdir -p "$directory" && : > "$marker" || exit 1
[ "$(id -u)" != 0 ] || chown "$user": "$directory" || exit 1
echo +0 > "$directory/faketime" && printf '%s' "$control" > "$directory/control" || exit 1
shift 6
)sh";

// A regular expression for lines of /proc/net/tcp and tcp6 about a socket that listens on this
// port, and on this IPv4 address (printed as a little-endian number) or on all.
std::string listening_pattern(const std::string& address, int port) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  std::string local = "0{8}|0{32}";
  if (std::sscanf(address.c_str(), "%u.%u.%u.%u", &a, &b, &c, &d) == 4) {
    local += fmt::format("|{:02X}{:02X}{:02X}{:02X}|0{{16}}FFFF0000{:02X}{:02X}{:02X}{:02X}", d, c,
                         b, a, d, c, b, a);
  } else {
    local = "[0-9A-F]+";
  }
  return fmt::format("^ *[0-9]+: ({}):{:04X} [0-9A-F]+:0000 0A ", local, port);
}

std::string listening_patterns(const Preparation& preparation) {
  std::vector<int> ports = preparation.more_ports;
  ports.insert(ports.begin(), preparation.port);
  std::vector<std::string> lines;
  for (const int port : ports) {
    lines.push_back(fmt::format("{} {}", port, listening_pattern(preparation.address, port)));
  }
  return boost::join(lines, "\n");
}

}  // namespace

Command plain_command(std::vector<std::string> arguments) {
  return {.arguments = std::move(arguments), .standard_input = {}, .environment = {}, .user = {}};
}

Command prepare_command(const Preparation& preparation, std::string_view then,
                        const std::vector<std::string>& arguments) {
  Command command = plain_command({"sh", "-c", std::string(kPrepare) + std::string(then), "install",
                                   preparation.directory.string(), preparation.control,
                                   preparation.user, boost::join(preparation.programs, " "),
                                   listening_patterns(preparation), preparation.wipe_argument});
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  return command;
}

Command install_library_command(const std::filesystem::path& directory) {
  Command command = plain_command(
      {"sh", "-c", "umask 022; cat > \"$1\"", "install", (directory / "real-waits.so").string()});
  command.standard_input = real_waits_library();
  return command;
}

Command control_command(const std::filesystem::path& directory,
                        const std::vector<std::string>& words) {
  std::vector<std::string> arguments = {"sh", (directory / "control").string()};
  arguments.insert(arguments.end(), words.begin(), words.end());
  return plain_command(std::move(arguments));
}

Command is_running_command(const std::filesystem::path& directory) {
  return control_command(directory, {"running"});
}

Command log_tail_command(const std::filesystem::path& log, int lines) {
  return plain_command({"tail", "-n", std::to_string(lines), log.string()});
}

ServerControl common_control(const std::filesystem::path& directory) {
  const auto verb = [&](const char* name) { return control_command(directory, {name}); };
  ServerControl server;
  server.kill = verb("kill");
  server.pause = verb("pause");
  server.resume = verb("resume");
  server.state = verb("state");
  server.clock_offset = verb("clock");
  server.age = verb("age");
  server.processes = verb("processes");
  server.directory = directory;
  return server;
}

}  // namespace ordeal
