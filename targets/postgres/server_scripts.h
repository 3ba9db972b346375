// What is done to a PostgreSQL server on its host, as commands: the same ones run over SSH, on this
// machine, and from the undo journal of a fault. All are idempotent (control_script.h says how).
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "remote/command.h"
#include "targets/target.h"

namespace ordeal::postgres {

// Where a server lives on its host.
struct ServerPlace {
  std::filesystem::path binaries;   // e.g. /usr/lib/postgresql/15/bin
  std::filesystem::path directory;  // ours alone: data/, postgres.log, faketime, ...
  std::string address;
  int port = 5432;
  bool faketime = true;  // start under libfaketime, where the host has it

  std::filesystem::path data() const { return directory / "data"; }
  std::filesystem::path log() const { return directory / "postgres.log"; }
};

// Exit statuses of install_command() that are no failure of a command.
inline constexpr int kBinariesMissing = 64;
inline constexpr int kPortTaken = 65;
inline constexpr int kUserMissing = 66;
inline constexpr int kClusterExists = 67;
inline constexpr int kSettingRefused = 68;  // of check_command()

// Creates the cluster, in place of one that an earlier run of Ordeal made in this directory (a
// marker tells), whose server is killed first; never in place of anything else. `postgresql_conf`
// and `pg_hba` are the texts appended and put in place; `sync` false: does not wait for the disk.
Command install_command(const ServerPlace& place, const std::string& postgresql_conf,
                        const std::string& pg_hba, bool sync);
// The second step: puts real_waits_library() where `start` preloads it from.
Command install_library_command(const ServerPlace& place);
// The third: asks the installed cluster whether PostgreSQL accepts these settings of
// postgresql.conf. Where it doesn't, the exit status is kSettingRefused, the setting's name (or
// nothing, if it refuses them together) on stdout, and its message on stderr.
Command check_command(const ServerPlace& place, const std::map<std::string, std::string>& settings);
Command stop_command(const ServerPlace& place);
// Exit status 0 while the server has a process.
Command is_running_command(const ServerPlace& place);
Command log_tail_command(const ServerPlace& place, int lines);
ServerControl server_control(const ServerPlace& place);

// Text for postgresql.conf: our settings, for so many clients, then the user's, which win.
std::string postgresql_conf(const ServerPlace& place, std::size_t clients,
                            const std::map<std::string, std::string>& settings);
// Text for pg_hba.conf: the control node's address alone, and the socket in the data directory.
std::string pg_hba(const std::string& control_address);

}  // namespace ordeal::postgres
