#include "targets/etcd/etcd.h"

#include <fmt/ranges.h>

#include <boost/algorithm/string/trim.hpp>
#include <map>
#include <utility>

#include "targets/etcd/connection.h"
#include "targets/etcd/server_scripts.h"
#include "targets/etcd/settings.h"
#include "targets/etcd/txn_client.h"
#include "targets/server_steps.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kSystem = "etcd";
constexpr std::string_view kClientLeg = "client-db";
constexpr std::string_view kPeerLeg = "peer";

struct Address {
  std::string address;
  int port = 0;
};

class Etcd : public Target {
 public:
  explicit Etcd(etcd::Settings settings) : settings_(std::move(settings)) {
    for (const Node& member : settings_.members) {
      clients_reach_[member.host] = {member.address, settings_.port};
      peers_reach_[member.host] = {member.address, settings_.peer_port};
    }
  }

  std::vector<std::string> hosts() const override { return hosts_of(settings_.members); }
  std::string role(const std::string& /*host*/) const override { return "member"; }
  std::vector<Leg> legs() const override;
  Status reroute(const std::string& leg, const Path& path, const std::string& address,
                 int port) override {
    (leg == kPeerLeg ? peers_reach_ : clients_reach_)[path.to] = {address, port};
    return {};
  }
  std::vector<Endpoint> endpoints() const override;
  Status install(Host& host, std::stop_token stop) override;
  Status start(Host& host, std::stop_token stop) override {
    return run_step(host, kSystem, "start", control(host).start, std::move(stop));
  }
  Status await_ready(Host& host, milliseconds timeout, std::stop_token stop) override;
  Status stop(Host& host) override {
    return run_step(host, kSystem, "stop", etcd::stop_command(place(host)), {});
  }
  ServerControl control(const Host& host) const override {
    return etcd::server_control(place(host));
  }
  Status download_logs(Host& host, const std::filesystem::path& into) override {
    return download_log(host, place(host).log(), into);
  }
  Result<std::string> version(Host& host) override;
  Result<std::vector<std::string>> members(Host& host) override {
    return etcd::members(host, place(host));
  }
  Result<std::unique_ptr<Client>> connect(std::string_view workload, ProcessId process,
                                          std::stop_token stop) override;

 private:
  etcd::ServerPlace place(const Host& host) const {
    return {.name = host.name(),
            .directory = host.spec().directory / "etcd",
            .address = host.spec().address,
            .port = settings_.port,
            .peer_port = settings_.peer_port};
  }
  ServerWords words(const Host& host) const {
    return {.system = kSystem,
            .user = "etcd",
            .user_from = "etcd-server",
            .directory = place(host).directory,
            .log = place(host).log(),
            .address = host.spec().address};
  }
  etcd::Endpoint endpoint(const std::string& host) const {
    const Address& address = clients_reach_.at(host);
    return {host, address.address, address.port, settings_.operation_timeout};
  }
  std::vector<std::string> flags(const Host& host) const;
  Status check_version(Host& host);
  Status check_flags(Host& host, std::stop_token stop) const;

  etcd::Settings settings_;
  // By the member's host: where it is connected to. All members are told the same address of one.
  std::map<std::string, Address> clients_reach_;
  std::map<std::string, Address> peers_reach_;
};

std::vector<Leg> Etcd::legs() const {
  Leg clients{std::string(kClientLeg), {}};
  Leg peers{std::string(kPeerLeg), {}};
  peers.one_address = true;
  for (const Node& to : settings_.members) {
    clients.paths.push_back({.from = std::string(kControlNode),
                             .to = to.host,
                             .address = to.address,
                             .port = settings_.port});
    for (const Node& from : settings_.members) {
      if (from.host == to.host) continue;
      peers.paths.push_back(
          {.from = from.host, .to = to.host, .address = to.address, .port = settings_.peer_port});
    }
  }
  if (peers.paths.empty()) return {std::move(clients)};
  return {std::move(clients), std::move(peers)};
}

std::vector<Endpoint> Etcd::endpoints() const {
  std::vector<Endpoint> all;
  for (const Node& member : settings_.members) {
    all.push_back({member.host, member.address, settings_.port});
  }
  return all;
}

std::vector<std::string> Etcd::flags(const Host& host) const {
  const etcd::ServerPlace where = place(host);
  const auto peer_url = [&](const std::string& name) {
    const Address& address = peers_reach_.at(name);
    return etcd::url(address.address, address.port);
  };
  std::vector<std::string> cluster;
  for (const Node& member : settings_.members) {
    cluster.push_back(fmt::format("{}={}", member.host, peer_url(member.host)));
  }
  std::vector<std::string> flags = {
      fmt::format("--name={}", where.name),
      fmt::format("--data-dir={}", (where.directory / "data").string()),
      fmt::format("--listen-client-urls={}", etcd::url(where.address, where.port)),
      fmt::format("--advertise-client-urls={}", etcd::url(where.address, where.port)),
      fmt::format("--listen-peer-urls={}", etcd::url(where.address, where.peer_port)),
      fmt::format("--initial-advertise-peer-urls={}", peer_url(where.name)),
      fmt::format("--initial-cluster={}", fmt::join(cluster, ",")),
      fmt::format("--heartbeat-interval={}", settings_.heartbeat_interval.count()),
      fmt::format("--election-timeout={}", settings_.election_timeout.count()),
      "--initial-cluster-state=new",
      "--logger=zap"};
  for (const auto& [name, value] : settings_.flags) {
    flags.push_back(fmt::format("--{}={}", name, value));
  }
  return flags;
}

Status Etcd::install(Host& host, std::stop_token stop) {
  const auto where = place(host);
  ORDEAL_TRY_ASSIGN(const auto output,
                    host.run(etcd::install_command(where, flags(host)), kInstallTimeout, stop));
  ORDEAL_TRY(check_prepared(
      host, words(host), output,
      fmt::format("{}: there is no etcd or etcdctl in /usr/bin; install the packages etcd-server "
                  "and etcd-client on that host",
                  host.name())));
  ORDEAL_TRY(check_version(host));
  return check_flags(host, std::move(stop));
}

Status Etcd::check_version(Host& host) {
  ORDEAL_TRY_ASSIGN(const std::string found, version(host));
  // "3.4" is the beginning of "3.4.23", and not of "3.40.1".
  if (settings_.version.empty() || (found + ".").starts_with("etcd " + settings_.version + ".")) {
    return {};
  }
  return surroundings_error(
      "{}: {} is installed there, and the campaign wants version {}; install that, or set the "
      "target's version",
      host.name(), found, settings_.version);
}

// What etcd refuses is the user's to change, and is found before it starts.
Status Etcd::check_flags(Host& host, std::stop_token stop) const {
  const auto command = etcd::check_command(place(host), settings_.flags);
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kInstallTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  if (output.exit_status == kSettingRefused) {
    return refused_setting(host, kSystem, "etcd", settings_.flags, output);
  }
  return surroundings_error("{}: could not check the settings of etcd: {}", host.name(),
                            boost::trim_copy(output.standard_error));
}

Status Etcd::await_ready(Host& host, milliseconds timeout, std::stop_token stop) {
  return await_served(host, words(host), timeout, stop,
                      [&] { return etcd::probe(endpoint(host.name()), hosts(), stop); });
}

// "etcd Version: 3.4.23" and more lines.
Result<std::string> Etcd::version(Host& host) {
  ORDEAL_TRY_ASSIGN(const auto output,
                    run_checked(host, plain_command({"/usr/bin/etcd", "--version"})));
  const std::string& text = output.standard_output;
  const auto colon = text.find(':');
  if (colon == std::string::npos) {
    return surroundings_error("{}: `etcd --version` printed \"{}\", and no version", host.name(),
                              boost::trim_copy(text));
  }
  return "etcd " + boost::trim_copy(text.substr(colon + 1, text.find('\n') - colon - 1));
}

Result<std::unique_ptr<Client>> Etcd::connect(std::string_view workload, ProcessId process,
                                              std::stop_token stop) {
  const auto number = static_cast<std::size_t>(process.value) % settings_.members.size();
  return etcd::connect_txn_client(endpoint(settings_.members[number].host), workload,
                                  settings_.serializable_reads, std::move(stop));
}

}  // namespace

std::span<const OptionSpec> etcd_options() { return etcd::option_specs(); }

Result<std::unique_ptr<Target>> make_etcd(const TargetInput& input) {
  ORDEAL_TRY_ASSIGN(etcd::Settings settings, etcd::read_settings(input));
  return std::make_unique<Etcd>(std::move(settings));
}

}  // namespace ordeal
