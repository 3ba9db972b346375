// What is done to a MariaDB server on its host, as commands (targets/server_scripts.h), and the
// files that it reads.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "targets/nodes.h"
#include "targets/server_scripts.h"

namespace ordeal::mariadb {

// Where a server lives on its host.
struct ServerPlace {
  std::string name;                 // of the host
  std::filesystem::path directory;  // ours alone: data/, mariadb.log, my.cnf, ...
  std::string address;
  int port = 3306;
  bool faketime = true;  // start under libfaketime, where the host has it

  std::filesystem::path data() const { return directory / "data"; }
  std::filesystem::path log() const { return directory / "mariadb.log"; }
};

// Exit statuses of install_command(), besides those of prepare_command().
inline constexpr int kOtherVersion = 69;  // the version is on stdout

// What a server reads when it starts.
struct ServerFiles {
  std::string my_cnf;
  std::string init_sql;   // run once, when the data are made
  std::string start_sql;  // run at each start; my.cnf names it where it is wanted
  std::string galera{};   // galera_program(), for a member of a Galera cluster
};

using SettingMap = std::map<std::string, std::string>;

// Creates the data as prepare_command() says, where MariaDB is of this version and accepts the
// campaign's settings of my.cnf. Where it doesn't, the exit status is kSettingRefused, the
// setting's name on stdout, and its message on stderr.
Command install_command(const ServerPlace& place, const std::string& version,
                        const ServerFiles& files, const SettingMap& settings);
// Exit status 0 where the replica receives and applies what the primary writes; else stderr says
// what it does.
Command following_command(const ServerPlace& place);
Command members_command(const ServerPlace& place);
ServerControl server_control(const ServerPlace& place);

// Text of my.cnf: our settings, for so many clients whose operations take so long at most, those of
// `role`, then the user's, which win.
std::string my_cnf(const ServerPlace& place, std::size_t clients,
                   std::chrono::milliseconds operation_timeout, int server_id,
                   const SettingMap& role, const SettingMap& settings);
// Settings of a primary and of a replica.
SettingMap primary_settings(bool semi_sync);
SettingMap replica_settings(const ServerPlace& place, bool semi_sync);
// Statements that make the database and its users: clients and replicas connect from these
// addresses, without a password.
std::string init_sql(const std::vector<std::string>& client_addresses,
                     const std::vector<std::string>& replica_addresses);
// Statements by which a replica follows the server at this address.
std::string follow_sql(const std::string& address, int port);

}  // namespace ordeal::mariadb
