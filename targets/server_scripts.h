// What is done to a server on its host, as commands: what is the same for every system. The same
// commands run over SSH, on this machine, and from the undo journal of a fault. All are idempotent
// (control_script.h says how).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "remote/command.h"
#include "targets/target.h"

namespace ordeal {

// Exit statuses of prepare_command() and of the targets' own commands that are no failure of a
// command.
inline constexpr int kProgramsMissing = 64;
inline constexpr int kPortTaken = 65;
inline constexpr int kUserMissing = 66;
inline constexpr int kDataExists = 67;
inline constexpr int kSettingRefused = 68;  // of a target's command that checks settings

struct Preparation {
  std::filesystem::path directory;  // of the server, and ours alone: data/, control, faketime, ...
  std::string control;              // text of control_script()
  std::string user;                 // that a server of root runs as
  std::vector<std::string> programs;  // that must be there, by their full paths
  std::string address;                // where the server listens
  int port = 0;
  std::vector<int> more_ports{};
  std::string wipe_argument{};  // of the control script's verb `wipe`
};

// Makes the directory, in place of one that an earlier run of Ordeal made (a marker tells), whose
// server is killed and whose data is removed first; never in place of anything else. `then` is
// shell that goes on, as root or the login user, and has as_server(), $directory and, from $1 on,
// `arguments`.
//
// With exit status kPortTaken, stdout is the port.
Command prepare_command(const Preparation& preparation, std::string_view then,
                        const std::vector<std::string>& arguments);
// The second step of installing: puts real_waits_library() where `start` preloads it from.
Command install_library_command(const std::filesystem::path& directory);

// A verb of the control script in this directory.
Command control_command(const std::filesystem::path& directory,
                        const std::vector<std::string>& words);
// Exit status 0 while the server has a process.
Command is_running_command(const std::filesystem::path& directory);
Command log_tail_command(const std::filesystem::path& log, int lines);
// The commands that are the same for every system; start, stop, clock_reading, commit, data_file
// and port are the target's to fill in.
ServerControl common_control(const std::filesystem::path& directory);

Command plain_command(std::vector<std::string> arguments);

}  // namespace ordeal
