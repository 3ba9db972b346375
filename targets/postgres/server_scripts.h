// What is done to a PostgreSQL server on its host, as commands: the same ones run over SSH, on this
// machine, and from the undo journal of a fault. All are idempotent (control_script.h says how).
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "remote/command.h"
#include "targets/server_scripts.h"
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

// Exit status of copy_command() that is no failure of a command.
inline constexpr int kPrimarySilent = 69;

// Creates the cluster as prepare_command() says. `postgresql_conf`
// and `pg_hba` are the texts appended and put in place; `sync` false: does not wait for the disk.
Command install_command(const ServerPlace& place, const std::string& postgresql_conf,
                        const std::string& pg_hba, bool sync);
// The same for a standby, whose cluster copy_command() makes once the primary runs.
Command install_standby_command(const ServerPlace& place);

// Where a standby reaches its primary.
struct Primary {
  std::string address;
  int port = 5432;
};

inline constexpr std::chrono::seconds kCopyTimeout{60};  // of a cluster that is still empty

// Makes the cluster of the standby that the primary is to know by `name`, where there is none yet;
// waits for the primary up to `patience`, then for the copy up to kCopyTimeout. `postgresql_conf`
// is appended to the primary's: the last of two values counts.
Command copy_command(const ServerPlace& place, const Primary& primary, const std::string& name,
                     const std::string& postgresql_conf, std::chrono::seconds patience, bool sync);
// Exit status 0 where the standby accepts connections and receives from the primary; else stderr
// says what it does.
Command replicating_command(const ServerPlace& place);
// Prints the application names of standbys that receive from this server, one a line; "primary"
// where this server is a standby that receives.
Command members_command(const ServerPlace& place);

// Where a subscriber of logical replication reaches the server that it follows, and the slot there.
struct Subscription {
  Primary publisher;
  std::string subscriber;  // its host: the publisher knows it by this name
};
// Copies the schema and subscribes to all tables, where that has not been done; waits for the first
// copy of what they hold, up to kFollowTimeout.
inline constexpr std::chrono::seconds kFollowTimeout{60};
Command follow_command(const ServerPlace& place, const Subscription& subscription);
// Exit status 0 once the subscriber has what the publisher had committed when it was asked; waits
// for about 2 s.
Command following_command(const ServerPlace& place, const Subscription& subscription);
// Settings of postgresql.conf for a server that others subscribe to, and for these.
std::map<std::string, std::string> publisher_settings();
std::map<std::string, std::string> subscriber_settings();

// The last step of installing: asks the installed cluster whether PostgreSQL accepts these settings
// of postgresql.conf. Where it doesn't, the exit status is kSettingRefused, the setting's name (or
// nothing, if it refuses them together) on stdout, and its message on stderr.
Command check_command(const ServerPlace& place, const std::map<std::string, std::string>& settings);
Command stop_command(const ServerPlace& place);
ServerControl server_control(const ServerPlace& place);

// Text for postgresql.conf: our settings, for so many clients, then the user's, which win.
std::string postgresql_conf(const ServerPlace& place, std::size_t clients,
                            const std::map<std::string, std::string>& settings);
// Settings of postgresql.conf for a primary with these standbys and for them; none without
// standbys. WAL is kept for a standby that was away, and lost connections are given up and tried
// again within seconds, not minutes, so that replication is back in the time that faults leave it.
// Synchronous: each commit waits until any one standby has it on disk, with synchronous_commit =
// on, PostgreSQL's default; clients read from the primary alone, so waiting until a standby shows
// it (remote_apply) would prove nothing more.
std::map<std::string, std::string> replication_settings(const std::vector<std::string>& standbys,
                                                        bool synchronous);
// Text for pg_hba.conf: the control node's address, the socket in the data directory, replication
// from the addresses of standbys, where there are any, and through the control node, and all
// databases for servers downstream.
std::string pg_hba(const std::string& control_address, const std::vector<std::string>& standbys,
                   const std::vector<std::string>& downstream = {});

}  // namespace ordeal::postgres
