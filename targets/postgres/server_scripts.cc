#include "targets/postgres/server_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <cctype>
#include <utility>

#include "targets/postgres/control_script.h"

namespace ordeal::postgres {
namespace {

// $1 directory of programs, $2 postgresql.conf, $3 pg_hba.conf, $4 "--no-sync" or ""
constexpr std::string_view kMakeCluster = R"sh(
as_server "$1/initdb" -D "$directory/data" -U postgres --auth=trust --encoding=UTF8 \
  --locale=C $4 >/dev/null || exit 1
as_server sh -c 'printf "%s" "$2" >> "$1/postgresql.conf" && printf "%s" "$3" > "$1/pg_hba.conf"' \
  sh "$directory/data" "$2" "$3"
)sh";

constexpr std::size_t kConnectionsMin = 200;
// Clients that reconnect while the server still holds their lost connections.
constexpr std::size_t kConnectionsSpare = 50;

Command control(const ServerPlace& place, const std::vector<std::string>& words) {
  return control_command(place.directory, words);
}

std::string setting(const std::string& name, const std::string& value) {
  return fmt::format("{} = '{}'\n", name, boost::replace_all_copy(value, "'", "''"));
}

// stop, of a server that was killed, removes its shared memory: `wipe` needs its programs.
Preparation preparation(const ServerPlace& place, std::initializer_list<const char*> programs) {
  Preparation result{.directory = place.directory,
                     .control = control_script(),
                     .user = "postgres",
                     .programs = {},
                     .address = place.address,
                     .port = place.port,
                     .wipe_argument = place.binaries.string()};
  for (const char* program : programs) {
    result.programs.push_back((place.binaries / program).string());
  }
  return result;
}

const char* no_sync(bool sync) { return sync ? "" : "--no-sync"; }

std::string quoted_name(const std::string& name) {
  return '"' + boost::replace_all_copy(name, "\"", "\"\"") + '"';
}

// The value of a key in a connection string.
std::string quoted_value(std::string value) {
  boost::replace_all(value, "\\", "\\\\");
  boost::replace_all(value, "'", "\\'");
  return "'" + value + "'";
}

// To the server, which is to know the connection by `name`.
std::string connection_string(const Primary& server, const std::string& name) {
  return fmt::format(
      "host={} port={} user=postgres dbname=postgres application_name={} "
      "sslmode=disable gssencmode=disable",
      server.address, server.port, quoted_value(name));
}

// A replication slot is named by lower-case letters, digits and underscores.
std::string slot_name(std::string host) {
  for (char& letter : host) {
    const auto byte = static_cast<unsigned char>(letter);
    letter = std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : '_';
  }
  return "ordeal_" + host;
}

Command subscribing(const ServerPlace& place, const char* verb, const Subscription& subscription) {
  return control(place, {verb, place.binaries.string(), std::to_string(place.port),
                         connection_string(subscription.publisher, subscription.subscriber),
                         slot_name(subscription.subscriber)});
}

}  // namespace

Command install_command(const ServerPlace& place, const std::string& postgresql_conf,
                        const std::string& pg_hba, bool sync) {
  return prepare_command(preparation(place, {"postgres", "pg_ctl", "initdb"}), kMakeCluster,
                         {place.binaries.string(), postgresql_conf, pg_hba, no_sync(sync)});
}

Command install_standby_command(const ServerPlace& place) {
  return prepare_command(
      preparation(place, {"postgres", "pg_ctl", "psql", "pg_isready", "pg_basebackup"}), "", {});
}

Command copy_command(const ServerPlace& place, const Primary& primary, const std::string& name,
                     const std::string& postgresql_conf, std::chrono::seconds patience, bool sync) {
  return control(place, {"copy", place.binaries.string(), connection_string(primary, name),
                         std::to_string(patience.count()), std::to_string(kCopyTimeout.count()),
                         postgresql_conf, no_sync(sync)});
}

Command replicating_command(const ServerPlace& place) {
  return control(place, {"replicating", place.binaries.string(), std::to_string(place.port)});
}

Command members_command(const ServerPlace& place) {
  return control(place, {"members", place.binaries.string(), std::to_string(place.port)});
}

Command follow_command(const ServerPlace& place, const Subscription& subscription) {
  return subscribing(place, "follow", subscription);
}

Command following_command(const ServerPlace& place, const Subscription& subscription) {
  return subscribing(place, "following", subscription);
}

Command check_command(const ServerPlace& place,
                      const std::map<std::string, std::string>& settings) {
  Command command = control(place, {"check", place.binaries.string()});
  for (const auto& [name, value] : settings) command.arguments.push_back(name + "=" + value);
  return command;
}

Command stop_command(const ServerPlace& place) {
  return control(place, {"stop", place.binaries.string()});
}

ServerControl server_control(const ServerPlace& place) {
  ServerControl server = common_control(place.directory);
  const std::string port = std::to_string(place.port);
  server.start =
      control(place, {"start", place.binaries.string(), place.faketime ? "faketime" : ""});
  server.stop = stop_command(place);
  server.clock_reading = control(place, {"clock-reading", place.binaries.string(), port});
  server.commit = control(place, {"commit", place.binaries.string(), port});
  server.port = place.port;
  // Tables of users have numbers from 16384 (FirstNormalObjectId), a file each.
  server.data_file = place.data() / "base/*/1[6-9][0-9][0-9][0-9]";
  return server;
}

std::string postgresql_conf(const ServerPlace& place, std::size_t clients,
                            const std::map<std::string, std::string>& settings) {
  // sockaddr_un holds 107 bytes; without a socket only tools on the host itself lose something.
  const std::string socket_directory =
      place.data().string().size() < 80 ? place.data().string() : "";
  const std::size_t connections = std::max(kConnectionsMin, clients + kConnectionsSpare);
  std::string text = "\n# Ordeal\n" + setting("listen_addresses", place.address) +
                     setting("port", std::to_string(place.port)) +
                     setting("unix_socket_directories", socket_directory) +
                     setting("max_connections", std::to_string(connections)) +
                     setting("log_timezone", "UTC") + setting("log_line_prefix", "%m [%p] ") +
                     setting("log_destination", "stderr") + setting("logging_collector", "off") +
                     // Transactions that append to two lists deadlock all the time; at the default
                     // of a second the server would mostly wait.
                     setting("deadlock_timeout", "20ms") +
                     // Files in the data directory: POSIX shared memory outlives a kill.
                     setting("dynamic_shared_memory_type", "mmap");
  for (const auto& [name, value] : settings) text += setting(name, value);
  return text;
}

std::map<std::string, std::string> replication_settings(const std::vector<std::string>& standbys,
                                                        bool synchronous) {
  if (standbys.empty()) return {};
  std::map<std::string, std::string> settings = {
      // A base backup takes two, and one of a lost connection stays until its time-out.
      {"max_wal_senders", std::to_string(4 * standbys.size() + 2)},
      {"wal_keep_size", "1GB"},
      {"wal_sender_timeout", "5s"},
      {"wal_receiver_timeout", "5s"},
      {"wal_retrieve_retry_interval", "500ms"}};
  if (synchronous) {
    std::vector<std::string> names;
    for (const std::string& standby : standbys) names.push_back(quoted_name(standby));
    settings["synchronous_standby_names"] = fmt::format("ANY 1 ({})", fmt::join(names, ", "));
  }
  return settings;
}

std::map<std::string, std::string> publisher_settings() {
  return {{"wal_level", "logical"}, {"wal_sender_timeout", "5s"}};
}

std::map<std::string, std::string> subscriber_settings() {
  return {{"wal_receiver_timeout", "5s"},
          {"wal_receiver_status_interval", "1s"},
          {"wal_retrieve_retry_interval", "500ms"}};
}

std::string pg_hba(const std::string& control_address, const std::vector<std::string>& standbys,
                   const std::vector<std::string>& downstream) {
  const auto row = [](std::string_view databases, const std::string& address) {
    const bool version_6 = address.find(':') != std::string::npos;
    return fmt::format("host {} all {}/{} trust\n", databases, address, version_6 ? 128 : 32);
  };
  std::string text = "local all all trust\n";
  text += row(standbys.empty() ? "all" : "all,replication", control_address);
  // The database is for asking whether the primary is ready.
  for (const std::string& address : standbys) text += row("replication,postgres", address);
  for (const std::string& address : downstream) text += row("all", address);
  return text;
}

}  // namespace ordeal::postgres
