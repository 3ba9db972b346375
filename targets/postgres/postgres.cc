#include "targets/postgres/postgres.h"

#include <algorithm>
#include <boost/algorithm/string/erase.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/split.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <optional>
#include <utility>

#include "targets/postgres/clients.h"
#include "targets/postgres/connection.h"
#include "targets/postgres/server_scripts.h"
#include "targets/postgres/settings.h"
#include "targets/server_steps.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSystem = "PostgreSQL";
constexpr std::string_view kClientLeg = "client-db";
constexpr std::string_view kReplicationLeg = "replication";
constexpr std::string_view kSubscriptionLeg = "subscription";

// Who turns fsync off accepts losing the cluster with the machine's power.
bool syncs(const std::map<std::string, std::string>& server_settings) {
  const auto found = server_settings.find("fsync");
  return found == server_settings.end() || (found->second != "off" && found->second != "false");
}

// A message of PostgreSQL's: "FATAL:  this\nDETAIL:  that" as "this DETAIL: that".
std::string one_line(const std::string& message) {
  std::string line = boost::trim_copy(message);
  for (const char* severity : {"FATAL:", "ERROR:"}) boost::erase_first(line, severity);
  std::replace(line.begin(), line.end(), '\n', ' ');
  boost::replace_all(line, ":  ", ": ");
  return boost::trim_copy(line);
}

class Postgres : public Target {
 public:
  Postgres(postgres::Settings settings, const TargetInput& input)
      : settings_(std::move(settings)),
        workload_options_(input.workload_options),
        clients_(input.clients),
        step_timeout_(input.step_timeout),
        control_address_(input.cluster.control_address.empty() ? "127.0.0.1"
                                                               : input.cluster.control_address),
        endpoint_{.host = settings_.primary.host,
                  .address = settings_.primary.address,
                  .port = settings_.port,
                  .operation_timeout = settings_.operation_timeout} {
    server_settings_ = settings_.server;
    server_settings_.merge(
        postgres::replication_settings(hosts_of(settings_.standbys), settings_.synchronous));
    if (input.upstream == nullptr) return;
    publisher_ = input.upstream->endpoints().front();
    server_settings_.merge(postgres::subscriber_settings());
  }

  std::vector<std::string> hosts() const override;
  std::string role(const std::string& host) const override;
  std::vector<Leg> legs() const override;
  Status reroute(const std::string& leg, const Path& path, const std::string& address,
                 int port) override;
  std::vector<Endpoint> endpoints() const override {
    return {{settings_.primary.host, settings_.primary.address, settings_.port}};
  }
  void admit(const std::vector<std::string>& addresses) override {
    downstream_.insert(downstream_.end(), addresses.begin(), addresses.end());
    server_settings_.merge(postgres::publisher_settings());
  }
  Status install(Host& host, std::stop_token stop) override;
  Status start(Host& host, std::stop_token stop) override;
  Status await_ready(Host& host, milliseconds timeout, std::stop_token stop) override;
  Status follow(Host& host, std::stop_token stop) override;
  Status stop(Host& host) override {
    return run_step(host, kSystem, "stop", postgres::stop_command(place(host)), {});
  }
  ServerControl control(const Host& host) const override {
    return postgres::server_control(place(host));
  }
  Status download_logs(Host& host, const std::filesystem::path& into) override {
    return download_log(host, place(host).log(), into);
  }
  Result<std::string> version(Host& host) override;
  Result<std::vector<std::string>> members(Host& host) override;
  Result<std::unique_ptr<Client>> connect(std::string_view workload, ProcessId process,
                                          std::stop_token stop) override;

 private:
  postgres::ServerPlace place(const Host& host) const {
    return {.binaries = fmt::format("/usr/lib/postgresql/{}/bin", settings_.version),
            .directory = host.spec().directory / "postgres",
            .address = host.spec().address,
            .port = settings_.port,
            .faketime = settings_.faketime};
  }
  ServerWords words(const Host& host) const {
    return {.system = kSystem,
            .user = "postgres",
            .user_from = "postgresql-common",
            .directory = place(host).directory,
            .log = place(host).log(),
            .address = host.spec().address};
  }
  bool is_primary(const std::string& host) const { return host == settings_.primary.host; }
  std::string configuration(const Host& host) const {
    return postgres::postgresql_conf(place(host), clients_, server_settings_);
  }
  Path path_to_primary(std::string_view from) const;
  postgres::Subscription subscription() const;
  postgres::Primary followed_by(const std::string& host) const;
  Status check_accepted(Host& host, std::stop_token stop) const;
  Status copy_primary(Host& host, std::stop_token stop) const;
  Status serves(Host& host, std::stop_token stop) const;

  postgres::Settings settings_;
  Options workload_options_;
  std::size_t clients_;
  milliseconds step_timeout_;
  std::string control_address_;
  std::map<std::string, std::string> server_settings_;  // the campaign's, and those for replication
  sql::Endpoint endpoint_;                              // where clients connect to
  std::map<std::string, postgres::Primary> rerouted_;   // where hosts reach what they follow
  std::vector<std::string> downstream_;                 // addresses that subscribe to this one
  std::optional<Endpoint> publisher_;                   // the server upstream
  bool follows_ = false;                                // it, since follow()
};

std::vector<std::string> Postgres::hosts() const {
  std::vector<std::string> names = hosts_of(settings_.standbys);
  names.insert(names.begin(), settings_.primary.host);
  return names;
}

std::string Postgres::role(const std::string& host) const {
  if (settings_.standbys.empty()) return "db";
  return is_primary(host) ? "primary" : "standby";
}

std::vector<Leg> Postgres::legs() const {
  std::vector<Leg> legs{{std::string(kClientLeg), {path_to_primary(kControlNode)}}};
  if (publisher_) {
    legs.push_back({std::string(kSubscriptionLeg),
                    {{.from = settings_.primary.host,
                      .to = publisher_->host,
                      .address = publisher_->address,
                      .port = publisher_->port}}});
  }
  if (settings_.standbys.empty()) return legs;
  legs.push_back({std::string(kReplicationLeg), {}});
  for (const Node& standby : settings_.standbys) {
    legs.back().paths.push_back(path_to_primary(standby.host));
  }
  return legs;
}

Path Postgres::path_to_primary(std::string_view from) const {
  return {.from = std::string(from),
          .to = settings_.primary.host,
          .address = settings_.primary.address,
          .port = settings_.port};
}

Status Postgres::reroute(const std::string& leg, const Path& path, const std::string& address,
                         int port) {
  if (leg == kClientLeg) {
    endpoint_.address = address;
    endpoint_.port = port;
  } else {
    rerouted_[path.from] = {.address = address, .port = port};
  }
  return {};
}

// What the server on that host follows: a standby the primary, the primary its publisher.
postgres::Primary Postgres::followed_by(const std::string& host) const {
  if (const auto found = rerouted_.find(host); found != rerouted_.end()) return found->second;
  if (is_primary(host)) return {.address = publisher_->address, .port = publisher_->port};
  return {.address = settings_.primary.address, .port = settings_.port};
}

Status Postgres::install(Host& host, std::stop_token stop) {
  const auto where = place(host);
  const auto command =
      is_primary(host.name())
          ? postgres::install_command(
                where, configuration(host),
                postgres::pg_hba(control_address_, addresses_of(settings_.standbys), downstream_),
                syncs(settings_.server))
          : postgres::install_standby_command(where);
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kInstallTimeout, stop));
  const std::string missing = fmt::format(
      "{}: there is no PostgreSQL {} in {}; install the package postgresql-{} on that host, or set "
      "the target's version",
      host.name(), settings_.version, where.binaries.string(), settings_.version);
  ORDEAL_TRY(check_prepared(host, words(host), output, missing));
  ORDEAL_TRY(run_step(host, kSystem, "install a library for",
                      install_library_command(where.directory), stop));
  // A standby gets the settings that the primary has accepted.
  return is_primary(host.name()) ? check_accepted(host, stop) : Status{};
}

// What PostgreSQL refuses is the user's to change, and is found before it starts.
Status Postgres::check_accepted(Host& host, std::stop_token stop) const {
  const auto command = postgres::check_command(place(host), settings_.server);
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kInstallTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  CommandOutput told = output;
  told.standard_error = one_line(output.standard_error);
  if (output.exit_status == kSettingRefused) {
    return refused_setting(host, fmt::format("{} {}", kSystem, settings_.version), "postgres",
                           settings_.server, told);
  }
  return surroundings_error("{}: could not check the settings of PostgreSQL: {}", host.name(),
                            told.standard_error);
}

Status Postgres::start(Host& host, std::stop_token stop) {
  if (!is_primary(host.name())) ORDEAL_TRY(copy_primary(host, stop));
  return run_step(host, kSystem, "start", control(host).start, std::move(stop));
}

Status Postgres::copy_primary(Host& host, std::stop_token stop) const {
  const auto primary = followed_by(host.name());
  const auto patience = std::chrono::ceil<std::chrono::seconds>(step_timeout_);
  const auto command = postgres::copy_command(
      place(host), primary, host.name(), configuration(host), patience, syncs(settings_.server));
  ORDEAL_TRY_ASSIGN(
      const auto output,
      host.run(command, patience + postgres::kCopyTimeout + kServerTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  const std::string message = one_line(output.standard_error);
  if (output.exit_status == postgres::kPrimarySilent) {
    return surroundings_error(
        "{}: the primary on {} did not accept the standby's connections at {} port {} within {}: "
        "{}; "
        "see the primary's log",
        host.name(), settings_.primary.host, primary.address, primary.port,
        format_duration(patience), message);
  }
  return surroundings_error("{}: could not copy the primary's cluster from {} port {} to {}: {}",
                            host.name(), primary.address, primary.port, place(host).data().string(),
                            message);
}

postgres::Subscription Postgres::subscription() const {
  return {followed_by(settings_.primary.host), settings_.primary.host};
}

Status Postgres::follow(Host& host, std::stop_token stop) {
  if (!publisher_ || !is_primary(host.name())) return {};
  ORDEAL_TRY_ASSIGN(const auto output,
                    host.run(postgres::follow_command(place(host), subscription()),
                             postgres::kFollowTimeout, std::move(stop)));
  follows_ = true;
  if (output.exit_status == 0) return {};
  const auto publisher = followed_by(host.name());
  return surroundings_error(
      "{}: could not subscribe to the tables of PostgreSQL on {} at {} port {}: {}", host.name(),
      publisher_->host, publisher.address, publisher.port, one_line(output.standard_error));
}

// A primary accepts connections, and has what it subscribes to; a standby receives from it as well.
Status Postgres::serves(Host& host, std::stop_token stop) const {
  if (is_primary(host.name())) {
    ORDEAL_TRY(postgres::Connection::probe(endpoint_, stop));
    if (!follows_) return {};
  }
  const auto command = is_primary(host.name())
                           ? postgres::following_command(place(host), subscription())
                           : postgres::replicating_command(place(host));
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kServerTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  return surroundings_error("{}", one_line(output.standard_error));
}

Status Postgres::await_ready(Host& host, milliseconds timeout, std::stop_token stop) {
  return await_served(host, words(host), timeout, stop, [&] { return serves(host, stop); });
}

Result<std::string> Postgres::version(Host& host) {
  ORDEAL_TRY_ASSIGN(auto output,
                    run_checked(host, plain_command({(place(host).binaries / "postgres").string(),
                                                     "--version"})));
  return boost::trim_copy(output.standard_output);
}

Result<std::vector<std::string>> Postgres::members(Host& host) {
  ORDEAL_TRY_ASSIGN(const auto output,
                    run_checked(host, postgres::members_command(place(host)), kServerTimeout));
  std::vector<std::string> names{host.name()};
  std::vector<std::string> seen;
  boost::split(seen, output.standard_output, boost::is_any_of("\n"));
  for (const Node& standby : settings_.standbys) {
    if (std::find(seen.begin(), seen.end(), standby.host) != seen.end())
      names.push_back(standby.host);
  }
  if (std::find(seen.begin(), seen.end(), "primary") != seen.end()) {
    names.push_back(settings_.primary.host);
  }
  return names;
}

Result<std::unique_ptr<Client>> Postgres::connect(std::string_view workload, ProcessId /*process*/,
                                                  std::stop_token stop) {
  if (workload == "list-append") {
    return postgres::connect_list_append(endpoint_, workload_options_, std::move(stop));
  }
  if (workload == "bank") {
    return postgres::connect_bank(endpoint_, workload_options_, std::move(stop));
  }
  return internal_error("target postgres has no client for workload {}", workload);
}

}  // namespace

std::span<const OptionSpec> postgres_options() { return postgres::option_specs(); }

Result<std::unique_ptr<Target>> make_postgres(const TargetInput& input) {
  ORDEAL_TRY_ASSIGN(postgres::Settings settings, postgres::read_settings(input));
  return std::make_unique<Postgres>(std::move(settings), input);
}

}  // namespace ordeal
