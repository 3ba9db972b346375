// What is done to a member of etcd on its host, as commands: the same ones run over SSH, on this
// machine, and from the undo journal of a fault. All are idempotent (control_script.h says how).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "targets/server_scripts.h"
#include "targets/target.h"

namespace ordeal::etcd {

// Where a member lives on its host.
struct ServerPlace {
  std::string name;                 // the host's, and the member's
  std::filesystem::path directory;  // ours alone: data/, etcd.log, flags, ...
  std::string address;
  int port = 0;
  int peer_port = 0;

  std::filesystem::path log() const { return directory / "etcd.log"; }
};

std::string url(const std::string& address, int port);

// Makes an empty data directory, as prepare_command() says, for a member with these flags.
Command install_command(const ServerPlace& place, const std::vector<std::string>& flags);
// Asks etcd whether it accepts these flags. Where it doesn't, the exit status is kSettingRefused,
// the flag's name on stdout, and its message on stderr.
Command check_command(const ServerPlace& place, const std::map<std::string, std::string>& flags);
Command stop_command(const ServerPlace& place);
ServerControl server_control(const ServerPlace& place);
// The names of the members that this one counts, as far as they have ever come up; it answers from
// what it has, also where it is cut off.
Result<std::vector<std::string>> members(Host& host, const ServerPlace& place);

}  // namespace ordeal::etcd
