#include "targets/mariadb/server_scripts.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>

#include "targets/mariadb/connection.h"
#include "targets/mariadb/control_script.h"

namespace ordeal::mariadb {
namespace {

constexpr const char* kServer = "/usr/sbin/mariadbd";

// The redo log is small, since it is made anew for each run, and copied with the data. The data are
// not synced (debug-no-sync): a run syncs disks where it is to lose what is not.
//
// $1 version, $2 my.cnf, $3 init.sql, $4 start.sql, $5 galera or "", then NAME=VALUE of the
// campaign's settings
constexpr std::string_view kMakeData = R"sh(
found=$(/usr/sbin/mariadbd --no-defaults --version | sed -n 's/.* Ver \([0-9.]*\).*/\1/p')
case $found. in
  "$1".*) ;;
  *) echo "$found"; exit 69 ;;
esac
as_server sh -c 'umask 022; cd "$1" && mkdir tmp && printf "%s" "$2" > my.cnf &&
  printf "%s" "$3" > init.sql && printf "%s" "$4" > start.sql' sh "$directory" "$2" "$3" "$4" ||
  exit 1
rm -f "$directory/galera"
[ -z "$5" ] || printf '%s' "$5" > "$directory/galera" || exit 1
shift 5
sh "$directory/control" check "$@" || exit $?
made=$(as_server mariadb-install-db --no-defaults --datadir="$directory/data" \
  --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve --debug-no-sync \
  --innodb-log-file-size=16M --tmpdir="$directory/tmp" --extra-file="$directory/init.sql" 2>&1) ||
  { echo "$made" | grep -E '^ERROR|\[ERROR\]' >&2; exit 1; }
)sh";

constexpr std::size_t kConnectionsMin = 200;
// Clients that reconnect while the server still holds their lost connections.
constexpr std::size_t kConnectionsSpare = 50;

Command control(const ServerPlace& place, const std::vector<std::string>& words) {
  return control_command(place.directory, words);
}

std::string quoted(const std::string& text) {
  return "'" + boost::replace_all_copy(text, "'", "''") + "'";
}

std::string lines_of(const SettingMap& settings) {
  std::string text;
  for (const auto& [name, value] : settings) {
    const std::string escaped = boost::replace_all_copy(value, "\\", "\\\\");
    text += fmt::format("{} = \"{}\"\n", name, boost::replace_all_copy(escaped, "\"", "\\\""));
  }
  return text;
}

}  // namespace

Command install_command(const ServerPlace& place, const std::string& version,
                        const ServerFiles& files, const SettingMap& settings) {
  const Preparation preparation{
      .directory = place.directory,
      .control = control_script(),
      .user = "mysql",
      .programs = {kServer, "/usr/bin/mariadb", "/usr/bin/mariadb-install-db"},
      .address = place.address,
      .port = place.port};
  std::vector<std::string> arguments = {version, files.my_cnf, files.init_sql, files.start_sql,
                                        files.galera};
  for (const auto& [name, value] : settings) arguments.push_back(name + "=" + value);
  return prepare_command(preparation, kMakeData, arguments);
}

Command following_command(const ServerPlace& place) { return control(place, {"following"}); }

Command members_command(const ServerPlace& place) { return control(place, {"members"}); }

ServerControl server_control(const ServerPlace& place) {
  ServerControl server = common_control(place.directory);
  server.start = control(place, {"start", place.faketime ? "faketime" : ""});
  server.stop = control(place, {"stop"});
  server.clock_reading = control(place, {"clock-reading"});
  server.commit = control(place, {"commit"});
  server.port = place.port;
  server.data_file = place.data() / kDatabase / "*.ibd";
  return server;
}

std::string my_cnf(const ServerPlace& place, std::size_t clients,
                   std::chrono::milliseconds operation_timeout, int server_id,
                   const SettingMap& role, const SettingMap& settings) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(operation_timeout).count();
  const SettingMap ours = {
      {"datadir", place.data().string()},
      {"socket", (place.data() / "socket").string()},
      {"pid_file", (place.data() / "server.pid").string()},
      {"log_error", place.log().string()},
      {"tmpdir", (place.directory / "tmp").string()},
      {"bind_address", place.address},
      {"port", std::to_string(place.port)},
      {"server_id", std::to_string(server_id)},
      {"report_host", place.name},
      {"skip_name_resolve", "ON"},
      {"max_connections", std::to_string(std::max(kConnectionsMin, clients + kConnectionsSpare))},
      // Connections that faults break must not lock their host out.
      {"max_connect_errors", "4294967295"},
      // A client that gave up must not hold its locks for long: neither while its statement waits
      // for another lock, nor where the end of its connection did not arrive.
      {"innodb_lock_wait_timeout", std::to_string(seconds)},
      {"idle_transaction_timeout", std::to_string(seconds + 1)},
      {"innodb_buffer_pool_size", "64M"},
      {"innodb_log_file_size", "16M"},
      {"performance_schema", "OFF"}};
  return "[mysqld]\n" + lines_of(ours) + lines_of(role) + lines_of(settings);
}

SettingMap primary_settings(bool semi_sync) {
  SettingMap settings = {{"log_bin", "binlog"},
                         {"binlog_format", "ROW"},
                         {"gtid_strict_mode", "ON"},
                         {"sync_binlog", "1"}};
  if (semi_sync) {
    settings["rpl_semi_sync_master_enabled"] = "ON";
    settings["rpl_semi_sync_master_wait_point"] = "AFTER_SYNC";
    // It would otherwise go on without replicas after ten seconds, and nobody would be told.
    settings["rpl_semi_sync_master_timeout"] = "3600000";
  }
  return settings;
}

// A lost connection is given up and tried again within seconds, not a minute, so that replication
// is back in the time that faults leave it. What was received but not applied is asked for again.
SettingMap replica_settings(const ServerPlace& place, bool semi_sync) {
  SettingMap settings = {
      {"read_only", "ON"},        {"relay_log", "relay"},
      {"slave_net_timeout", "5"}, {"gtid_strict_mode", "ON"},
      {"skip_slave_start", "ON"}, {"init_file", (place.directory / "start.sql").string()}};
  if (semi_sync) settings["rpl_semi_sync_slave_enabled"] = "ON";
  return settings;
}

std::string init_sql(const std::vector<std::string>& client_addresses,
                     const std::vector<std::string>& replica_addresses) {
  std::string text = fmt::format(
      "CREATE DATABASE {0};\n"
      "CREATE TABLE {0}.durable (id int PRIMARY KEY, changes bigint NOT NULL) ENGINE=InnoDB;\n"
      "FLUSH PRIVILEGES;\n"  // from here on there are users
      "CREATE USER committer@localhost;\n"
      "GRANT SELECT, INSERT, UPDATE ON {0}.durable TO committer@localhost;\n",
      kDatabase);
  const auto grant = [&](const char* privileges, const char* user, const std::string& address) {
    text += fmt::format("CREATE USER IF NOT EXISTS {0}@{1};\nGRANT {2} ON *.* TO {0}@{1};\n", user,
                        quoted(address), privileges);
  };
  for (const auto& address : client_addresses) grant("ALL", kUser, address);
  for (const auto& address : replica_addresses) grant("REPLICATION SLAVE", "replica", address);
  return text;
}

std::string follow_sql(const std::string& address, int port) {
  return fmt::format(
      "CHANGE MASTER TO MASTER_HOST={}, MASTER_PORT={}, MASTER_USER='replica', "
      "MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=1;\n"
      "START SLAVE;\n",
      quoted(address), port);
}

}  // namespace ordeal::mariadb
