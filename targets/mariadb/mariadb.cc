#include "targets/mariadb/mariadb.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <utility>

#include "targets/mariadb/clients.h"
#include "targets/mariadb/connection.h"
#include "targets/mariadb/galera.h"
#include "targets/mariadb/server_scripts.h"
#include "targets/mariadb/settings.h"
#include "targets/server_steps.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSystem = "MariaDB";
constexpr std::string_view kClientLeg = "client-db";
constexpr std::string_view kReplicationLeg = "replication";
// sockaddr_un holds 107 bytes.
constexpr std::size_t kSocketPathMax = 107;

class MariaDb : public Target {
 public:
  MariaDb(mariadb::Settings settings, const TargetInput& input)
      : settings_(std::move(settings)),
        workload_options_(input.workload_options),
        clients_(input.clients),
        control_address_(input.cluster.control_address.empty() ? "127.0.0.1"
                                                               : input.cluster.control_address) {
    for (const Node& node : settings_.nodes) {
      endpoints_.push_back({.host = node.host,
                            .address = node.address,
                            .port = settings_.port,
                            .operation_timeout = settings_.operation_timeout});
      if (!settings_.galera) break;
    }
  }

  std::vector<std::string> hosts() const override { return hosts_of(settings_.nodes); }
  std::string role(const std::string& host) const override;
  std::vector<Leg> legs() const override;
  Status reroute(const std::string& leg, const Path& path, const std::string& address,
                 int port) override;
  Status install(Host& host, std::stop_token stop) override;
  Status start(Host& host, std::stop_token stop) override {
    return run_step(host, kSystem, "start", control(host).start, std::move(stop));
  }
  Status await_ready(Host& host, milliseconds timeout, std::stop_token stop) override {
    return await_served(host, words(host), timeout, stop, [&] { return serves(host, stop); });
  }
  Status stop(Host& host) override {
    return run_step(host, kSystem, "stop", control(host).stop, {});
  }
  ServerControl control(const Host& host) const override {
    return mariadb::server_control(place(host));
  }
  Status download_logs(Host& host, const std::filesystem::path& into) override {
    return download_log(host, place(host).log(), into);
  }
  Result<std::string> version(Host& host) override;
  Result<std::vector<std::string>> members(Host& host) override;
  std::vector<Endpoint> endpoints() const override;
  Result<std::unique_ptr<Client>> connect(std::string_view workload, ProcessId process,
                                          std::stop_token stop) override;

 private:
  mariadb::ServerPlace place(const Host& host) const {
    return {.name = host.name(),
            .directory = host.spec().directory / "mariadb",
            .address = host.spec().address,
            .port = settings_.port,
            .faketime = settings_.faketime};
  }
  ServerWords words(const Host& host) const {
    return {.system = kSystem,
            .user = "mysql",
            .user_from = "mariadb-server",
            .directory = place(host).directory,
            .log = place(host).log(),
            .address = host.spec().address};
  }
  const Node& primary() const { return settings_.nodes.front(); }
  bool is_replica(const std::string& host) const {
    return settings_.replicated() && host != primary().host;
  }
  Path path_to(const Node& node, std::string_view from, int port) const {
    return {.from = std::string(from), .to = node.host, .address = node.address, .port = port};
  }
  std::vector<Path> paths_between_members() const;
  mariadb::ServerFiles files(const Host& host) const;
  Status serves(Host& host, std::stop_token stop) const;

  mariadb::Settings settings_;
  Options workload_options_;
  std::size_t clients_;
  std::string control_address_;
  std::vector<sql::Endpoint> endpoints_;    // where clients connect to
  std::map<std::string, Path> rerouted_{};  // where replicas named so reach the primary
};

std::string MariaDb::role(const std::string& host) const {
  if (settings_.galera) return "member";
  if (!settings_.replicated()) return "db";
  return is_replica(host) ? "replica" : "primary";
}

std::vector<Leg> MariaDb::legs() const {
  Leg clients{std::string(kClientLeg), {}};
  for (const Node& node : settings_.nodes) {
    if (is_replica(node.host)) continue;
    clients.paths.push_back(path_to(node, kControlNode, settings_.port));
  }
  Leg replication{std::string(kReplicationLeg), {}};
  for (const Node& replica : settings_.nodes) {
    if (!is_replica(replica.host)) continue;
    replication.paths.push_back(path_to(primary(), replica.host, settings_.port));
  }
  if (settings_.galera) replication.paths = paths_between_members();
  if (replication.paths.empty()) return {clients};
  return {clients, replication};
}

// Either of two may connect to the other.
std::vector<Path> MariaDb::paths_between_members() const {
  std::vector<Path> paths;
  for (const Node& from : settings_.nodes) {
    for (const Node& to : settings_.nodes) {
      if (from.host == to.host) continue;
      for (const int port : {mariadb::kGroupPort, mariadb::kIncrementPort, mariadb::kCopyPort}) {
        paths.push_back(path_to(to, from.host, port));
      }
    }
  }
  return paths;
}

Status MariaDb::reroute(const std::string& leg, const Path& path, const std::string& address,
                        int port) {
  if (leg == kReplicationLeg && settings_.galera) {
    return bad_input(
        "target mariadb: leg {} of a Galera cluster can't lead through the proxy, since its "
        "members tell each other where they are; say `legs: {{{}: direct}}`, and strike it by "
        "faults of packets",
        leg, leg);
  }
  if (leg == kReplicationLeg) {
    rerouted_[path.from] = {.from = {}, .to = {}, .address = address, .port = port};
    return {};
  }
  for (sql::Endpoint& endpoint : endpoints_) {
    if (endpoint.host != path.to) continue;
    endpoint.address = address;
    endpoint.port = port;
  }
  return {};
}

mariadb::ServerFiles MariaDb::files(const Host& host) const {
  const auto where = place(host);
  const auto names = hosts();
  const auto addresses = addresses_of(settings_.nodes);
  const auto number = std::find(names.begin(), names.end(), host.name()) - names.begin() + 1;
  mariadb::SettingMap role_settings;
  std::vector<std::string> replicas;
  std::string start_sql;
  if (settings_.replicated()) {
    replicas = addresses;
    replicas.push_back(control_address_);  // through the proxy
    role_settings = is_replica(host.name()) ? mariadb::replica_settings(where, settings_.semi_sync)
                                            : mariadb::primary_settings(settings_.semi_sync);
  }
  std::string galera;
  if (settings_.galera) {
    role_settings = mariadb::galera_settings(where, addresses);
    galera = mariadb::galera_program(where, addresses);
  }
  if (is_replica(host.name())) {
    const auto found = rerouted_.find(host.name());
    start_sql = found == rerouted_.end()
                    ? mariadb::follow_sql(primary().address, settings_.port)
                    : mariadb::follow_sql(found->second.address, found->second.port);
  }
  return {.my_cnf = mariadb::my_cnf(where, clients_, settings_.operation_timeout,
                                    static_cast<int>(number), role_settings, settings_.server),
          .init_sql = mariadb::init_sql({control_address_}, replicas),
          .start_sql = std::move(start_sql),
          .galera = std::move(galera)};
}

Status MariaDb::install(Host& host, std::stop_token stop) {
  const auto where = place(host);
  if ((where.data() / "socket").string().size() > kSocketPathMax) {
    return surroundings_error(
        "{}: {} is too long for the path of a socket in it; choose a shorter directory",
        host.name(), where.data().string());
  }
  ORDEAL_TRY_ASSIGN(
      const auto output,
      host.run(mariadb::install_command(where, settings_.version, files(host), settings_.server),
               kInstallTimeout, stop));
  if (output.exit_status == kSettingRefused) {
    return refused_setting(host, fmt::format("{} {}", kSystem, settings_.version), "mariadb",
                           settings_.server, output);
  }
  if (output.exit_status == mariadb::kOtherVersion) {
    return surroundings_error(
        "{}: there is MariaDB {}, and the target's version is {}; set the target's version, or "
        "install that one",
        host.name(), boost::trim_copy(output.standard_output), settings_.version);
  }
  ORDEAL_TRY(check_prepared(
      host, words(host), output,
      fmt::format("{}: there is no MariaDB on that host; install the package mariadb-server",
                  host.name())));
  return run_step(host, kSystem, "install a library for", install_library_command(where.directory),
                  std::move(stop));
}

// A replica is asked on its own host: clients don't connect to it.
Status MariaDb::serves(Host& host, std::stop_token stop) const {
  if (is_replica(host.name())) {
    ORDEAL_TRY_ASSIGN(const auto output, host.run(mariadb::following_command(place(host)),
                                                  kServerTimeout, std::move(stop)));
    if (output.exit_status == 0) return {};
    return surroundings_error("{}", boost::trim_copy(output.standard_error));
  }
  const auto endpoint = std::find_if(endpoints_.begin(), endpoints_.end(),
                                     [&](const auto& each) { return each.host == host.name(); });
  return mariadb::Connection::probe(*endpoint, std::move(stop));
}

std::vector<Endpoint> MariaDb::endpoints() const {
  std::vector<Endpoint> found;
  for (const Node& node : settings_.nodes) {
    if (!is_replica(node.host)) found.push_back({node.host, node.address, settings_.port});
  }
  return found;
}

Result<std::string> MariaDb::version(Host& host) {
  ORDEAL_TRY_ASSIGN(
      auto output,
      run_checked(host, plain_command({"/usr/sbin/mariadbd", "--no-defaults", "--version"})));
  return boost::trim_copy(output.standard_output);
}

Result<std::vector<std::string>> MariaDb::members(Host& host) {
  ORDEAL_TRY_ASSIGN(const auto output, run_checked(host, mariadb::members_command(place(host))));
  std::vector<std::string> said;
  boost::split(said, output.standard_output, boost::is_any_of("\n"));
  std::vector<std::string> names;
  for (const Node& node : settings_.nodes) {
    const bool counts = std::any_of(said.begin(), said.end(), [&](const std::string& line) {
      return line == "name " + node.host || line == "address " + node.address ||
             (line == "primary" && node.host == primary().host);
    });
    if (counts) names.push_back(node.host);
  }
  return names;
}

Result<std::unique_ptr<Client>> MariaDb::connect(std::string_view workload, ProcessId process,
                                                 std::stop_token stop) {
  const auto& endpoint = endpoints_[static_cast<std::size_t>(process.value) % endpoints_.size()];
  return mariadb::connect_client(workload, endpoint, workload_options_, std::move(stop));
}

}  // namespace

std::span<const OptionSpec> mariadb_options() { return mariadb::option_specs(); }

Result<std::unique_ptr<Target>> make_mariadb(const TargetInput& input) {
  ORDEAL_TRY_ASSIGN(mariadb::Settings settings, mariadb::read_settings(input));
  return std::make_unique<MariaDb>(std::move(settings), input);
}

}  // namespace ordeal
