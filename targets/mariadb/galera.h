// A Galera cluster's members: their settings, and the program by which each of them starts.
#pragma once

#include <string>
#include <vector>

#include "targets/mariadb/server_scripts.h"

namespace ordeal::mariadb {

// Of Galera: between members (gcomm), for write sets that one missed (IST), for a copy of all data
// (SST, by rsync).
inline constexpr int kGroupPort = 4567;
inline constexpr int kIncrementPort = 4568;
inline constexpr int kCopyPort = 4444;

// Settings of my.cnf of a member, whose cluster has these addresses, its own included.
SettingMap galera_settings(const ServerPlace& place, const std::vector<std::string>& addresses);

// POSIX shell, kept as DIRECTORY/galera and run as `sh DIRECTORY/galera SERVER` in the server's
// place: decides how this member starts, then becomes the server.
//
// A member that stopped may know less than the others. So:
// - where a peer's server is there, this one joins it: Galera itself finds out who knows more, and
//   after a crash restores the last primary component from gvwstate.dat (pc.recovery);
// - the last to leave in an orderly way says so in grastate.dat (safe_to_bootstrap), and makes the
//   cluster anew at once;
// - otherwise members tell each other the position of their data (the one that --wsrep-recover
//   finds), by rsync on the port of IST. Once all have, so that none runs, the most advanced makes
//   the cluster anew. That is how the first start goes, too.
//
// A position that is not final is told by nobody: data that an interrupted SST left are no data.
// Documentation: "Crash Recovery" and "Primary Component" of Galera Cluster.
std::string galera_program(const ServerPlace& place, const std::vector<std::string>& addresses);

}  // namespace ordeal::mariadb
