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
// place: decides how this member starts, and runs the server.
//
// A member that stopped may know less than the others, and who was the last cannot be known where
// faults kill all of them. So:
// - where a peer's server is there, this one joins it: Galera itself finds out who knows more, and
//   after a crash restores the last primary component from gvwstate.dat (pc.recovery);
// - otherwise members tell each other the position of their data (the one that --wsrep-recover
//   finds), by rsync on the port of IST. Once all have, so that none runs, each forgets its last
//   primary component, and once all have done so, the most advanced makes the cluster anew. That is
//   how the first start goes, too;
// - a server that ends since it found no primary component in time goes through this again.
//
// Data that an interrupted SST left are no data. Documentation: "Crash Recovery" and "Primary
// Component" of Galera Cluster.
std::string galera_program(const ServerPlace& place, const std::vector<std::string>& addresses);

}  // namespace ordeal::mariadb
