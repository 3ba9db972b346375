#include "targets/etcd/server_scripts.h"

#include <fmt/ranges.h>

#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "targets/etcd/control_script.h"

namespace ordeal::etcd {
namespace {

// etcd refuses to run where others may read its data. $1 flags, one a line
constexpr std::string_view kMakeMember = R"sh(
as_server mkdir -m 700 "$directory/data" && printf '%s' "$1" > "$directory/flags"
)sh";

Command control(const ServerPlace& place, const std::vector<std::string>& words) {
  return control_command(place.directory, words);
}

std::string client_url(const ServerPlace& place) { return url(place.address, place.port); }

}  // namespace

std::string url(const std::string& address, int port) {
  const bool version_6 = address.find(':') != std::string::npos;
  return version_6 ? fmt::format("http://[{}]:{}", address, port)
                   : fmt::format("http://{}:{}", address, port);
}

Command install_command(const ServerPlace& place, const std::vector<std::string>& flags) {
  return prepare_command({.directory = place.directory,
                          .control = control_script(),
                          .user = "etcd",
                          .programs = {"/usr/bin/etcd", "/usr/bin/etcdctl"},
                          .address = place.address,
                          .port = place.port,
                          .more_ports = {place.peer_port}},
                         kMakeMember, {fmt::format("{}\n", fmt::join(flags, "\n"))});
}

Command check_command(const ServerPlace& place, const std::map<std::string, std::string>& flags) {
  Command command = control(place, {"check"});
  for (const auto& [name, value] : flags) {
    command.arguments.push_back(fmt::format("--{}={}", name, value));
  }
  return command;
}

Command stop_command(const ServerPlace& place) { return control(place, {"stop"}); }

ServerControl server_control(const ServerPlace& place) {
  ServerControl server = common_control(place.directory);
  server.start = control(place, {"start"});
  server.stop = stop_command(place);
  // A program in Go asks the kernel for the time, past libc and all that is preloaded.
  server.clock_offset = {};
  server.commit = control(place, {"commit", client_url(place)});
  server.port = place.port;
  server.data_file = place.directory / "data/member/snap/db";
  return server;
}

Result<std::vector<std::string>> members(Host& host, const ServerPlace& place) {
  ORDEAL_TRY_ASSIGN(const auto output,
                    run_checked(host, control(place, {"members", client_url(place)})));
  std::vector<std::string> names;
  const std::string text = boost::trim_copy(output.standard_output);
  boost::split(names, text, [](char c) { return c == '\n'; });
  return names;
}

}  // namespace ordeal::etcd
