// The program that controls a server on its host: what is the same for every system. It is put into
// the server's directory when that is made, so that commands, journals and messages name it in a
// few words, and people can run it.
#pragma once

#include <string>
#include <string_view>

namespace ordeal {

// What a system adds, as POSIX shell.
struct ControlScript {
  std::string_view name;       // of the system, for people
  std::string_view user;       // that servers run as where the script runs as root
  std::string_view usage;      // comment lines about its verbs
  std::string_view functions;  // may use those of the common part (control_script.cc)
  std::string_view verbs;      // branches of `case $1 in`
};

// The whole program, run as `sh DIRECTORY/control VERB [ARGUMENT...]`. Verbs of every system:
//   kill, pause, resume, running, clock OFFSET, state, age, processes, as-server PROGRAM
//   [ARGUMENT...].
// All verbs are idempotent, and work as root (the server then runs as `user`) and as any other user
// (who then owns the server). `running` tells by its exit status whether there is any process of
// the server; `as-server` runs a program as the user that the server runs as.
//
// A server's processes are those whose working directory is DIRECTORY/data or in it: that finds
// orphans after a kill as well, and depends neither on lock files nor on sessions.
std::string control_script(const ControlScript& system);

}  // namespace ordeal
