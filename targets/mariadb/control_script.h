// What the program that controls a server on its host (targets/control_script.h) does for MariaDB.
#pragma once

#include <string>

namespace ordeal::mariadb {

// Its verbs, besides those of every system:
//   start [faketime], stop, wipe, check [NAME=VALUE...], clock-reading, commit, following,
//   members.
// `start` returns once the server is launched, which is before it is ready. `wipe` kills it and
// removes its data. `check` asks MariaDB, before it runs, whether it accepts these settings, and
// exits with kSettingRefused if it does not: the name of the setting is then on stdout, its message
// on stderr. `following` fails unless the replica receives and applies what the primary writes; it
// prints what it does instead. `members` prints the server's idea of who belongs to the system, one
// a line: "name n2" or "address 10.0.0.2".
std::string control_script();

}  // namespace ordeal::mariadb
