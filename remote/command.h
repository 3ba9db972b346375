// A command to run on a host: an argument list, never a shell line. Quoting for a remote shell
// happens in one place, shell_line().
#pragma once

#include <map>
#include <string>
#include <vector>

namespace ordeal {

struct Command {
  std::vector<std::string> arguments;  // [0] is the program; looked up in PATH
  std::string standard_input;
  std::map<std::string, std::string> environment;  // added to the host's
  std::string user;                                // run as this user; "" is the login user
  std::string title{};  // what it does, for messages in place of a long script

  friend bool operator==(const Command&, const Command&) = default;
};

struct CommandOutput {
  int exit_status = 0;  // 128 + N when ended by signal N
  std::string standard_output;
  std::string standard_error;
};

// One POSIX shell line that runs the command with exactly these arguments and environment.
std::string shell_line(const Command& command);
// For messages: the arguments, quoted where needed, without environment or input; one line, and the
// first 200 bytes of what is longer.
std::string display(const Command& command);
// For messages: the title, or that in backquotes.
std::string named(const Command& command);

}  // namespace ordeal
