#include "targets/postgres/postgres.h"

#include <algorithm>
#include <array>
#include <boost/algorithm/string/erase.hpp>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <thread>
#include <utility>

#include "targets/postgres/bank_client.h"
#include "targets/postgres/connection.h"
#include "targets/postgres/list_append_client.h"
#include "targets/postgres/server_scripts.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// It becomes part of a path, and of a package's name.
Status check_version(std::string_view /*name*/, const std::string& text) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) return {};
  return bad_input("expected the number of a major version, such as 15");
}

// A setting goes into a configuration file as a name, and must not become anything else there.
Status check_setting(std::string_view name, const std::string& value) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  constexpr std::array<std::string_view, 3> kOurs = {"port", "listen_addresses", "data_directory"};
  name.remove_prefix(std::string_view("settings.").size());
  if (std::find(kOurs.begin(), kOurs.end(), name) != kOurs.end()) {
    return bad_input("the target's port and host decide this");
  }
  if (name.empty() || name.find_first_not_of(kLetters) != std::string_view::npos) {
    return bad_input("expected the name of a setting of postgresql.conf");
  }
  if (value.find('\n') == std::string::npos) return {};
  return bad_input("expected a single line");
}

constexpr std::array kOptions = std::to_array<OptionSpec>({
    {.name = "version",
     .type = OptionType::text,
     .default_value = "15",
     .summary = "major version; its programs are in /usr/lib/postgresql/VERSION/bin",
     .check = check_version},
    {.name = "host",
     .type = OptionType::host,
     .default_value = "",
     .summary = "name of the host that the server runs on; empty: the first"},
    {.name = "port",
     .type = OptionType::integer,
     .default_value = "5432",
     .summary = "TCP port of the server",
     .minimum = 1,
     .maximum = 65535},
    {.name = "settings.*",
     .type = OptionType::text,
     .default_value = "",
     .summary = "settings of postgresql.conf",
     .check = check_setting},
    {.name = "operation-timeout",
     .type = OptionType::duration,
     .default_value = "5s",
     .summary = "longest wait for an operation's outcome; after it, the outcome is unknown",
     .minimum = 1},
    {.name = "faketime",
     .type = OptionType::boolean,
     .default_value = "true",
     .summary = "run the server under libfaketime where installed, for faults of the clock"},
});

constexpr milliseconds kInstallTimeout{60'000};
constexpr milliseconds kServerTimeout{30'000};
constexpr milliseconds kReadyPause{50};
constexpr int kLogLines = 5;

struct Settings {
  std::string host;
  std::string version;
  int port = 0;
  std::map<std::string, std::string> server;  // for postgresql.conf
  milliseconds operation_timeout{0};
  bool faketime = true;
};

Status run_step(Host& host, std::string_view step, const Command& command, std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kServerTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  return surroundings_error("{}: could not {} PostgreSQL: {}", host.name(), step,
                            boost::trim_copy(output.standard_error));
}

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

std::string setting_names(const std::map<std::string, std::string>& settings) {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) names.push_back("target.postgres.settings." + name);
  return boost::join(names, ", ");
}

class Postgres : public Target {
 public:
  Postgres(Settings settings, const TargetInput& input, const Host& host)
      : settings_(std::move(settings)),
        workload_options_(input.workload_options),
        clients_(input.clients),
        control_address_(input.cluster.control_address.empty() ? "127.0.0.1"
                                                               : input.cluster.control_address),
        endpoint_{.host = host.name(),
                  .address = host.spec().address,
                  .port = settings_.port,
                  .operation_timeout = settings_.operation_timeout},
        server_address_(host.spec().address) {}

  std::vector<std::string> hosts() const override { return {settings_.host}; }
  std::string role(const std::string& /*host*/) const override { return "db"; }
  std::vector<Leg> legs() const override {
    return {{"client-db",
             {{.from = std::string(kControlNode),
               .to = settings_.host,
               .address = server_address_,
               .port = settings_.port}}}};
  }
  void reroute(const std::string& /*leg*/, const Path& /*path*/, const std::string& address,
               int port) override {
    endpoint_.address = address;
    endpoint_.port = port;
  }
  Status install(Host& host, std::stop_token stop) override;
  Status start(Host& host, std::stop_token stop) override {
    return run_step(host, "start", control(host).start, std::move(stop));
  }
  Status await_ready(Host& host, milliseconds timeout, std::stop_token stop) override;
  Status stop(Host& host) override {
    return run_step(host, "stop", postgres::stop_command(place(host)), {});
  }
  ServerControl control(const Host& host) const override {
    return postgres::server_control(place(host));
  }
  Status download_logs(Host& host, const std::filesystem::path& into) override;
  Result<std::string> version(Host& host) override;
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
  Status check_accepted(Host& host, std::stop_token stop) const;
  std::string log_tail(Host& host) const;
  bool is_running(Host& host) const;

  Settings settings_;
  Options workload_options_;
  std::size_t clients_;
  std::string control_address_;
  postgres::Endpoint endpoint_;  // where clients connect to
  std::string server_address_;
};

Status Postgres::install(Host& host, std::stop_token stop) {
  const auto where = place(host);
  const auto command =
      postgres::install_command(where, postgres::postgresql_conf(where, clients_, settings_.server),
                                postgres::pg_hba(control_address_), syncs(settings_.server));
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kInstallTimeout, stop));
  switch (output.exit_status) {
    case 0:
      ORDEAL_TRY(
          run_step(host, "install a library for", postgres::install_library_command(where), stop));
      return check_accepted(host, stop);
    case postgres::kBinariesMissing:
      return surroundings_error(
          "{}: there is no PostgreSQL {} in {}; install the package postgresql-{} on that host, or "
          "set the target's version",
          host.name(), settings_.version, where.binaries.string(), settings_.version);
    case postgres::kPortTaken:
      return surroundings_error(
          "{}: port {} of {} is in use by another program; stop that, or set the target's port",
          host.name(), settings_.port, where.address);
    case postgres::kUserMissing:
      return surroundings_error(
          "{}: there is no user postgres, and PostgreSQL refuses to run as root; install the "
          "package "
          "postgresql-common, or log in as another user",
          host.name());
    case postgres::kClusterExists:
      return surroundings_error(
          "{}: {} holds a database cluster already, or other files, and not from Ordeal; remove it "
          "first",
          host.name(), where.data().string());
    default:
      return surroundings_error("{}: could not create a PostgreSQL cluster in {}: {}", host.name(),
                                where.data().string(), boost::trim_copy(output.standard_error));
  }
}

// What PostgreSQL refuses is the user's to change, and is found before it starts.
Status Postgres::check_accepted(Host& host, std::stop_token stop) const {
  const auto command = postgres::check_command(place(host), settings_.server);
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kInstallTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  const std::string message = one_line(output.standard_error);
  if (output.exit_status != postgres::kSettingRefused) {
    return surroundings_error("{}: could not check the settings of PostgreSQL: {}", host.name(),
                              message);
  }
  const std::string name = boost::trim_copy(output.standard_output);
  if (name.empty()) {
    return bad_input(
        "{}: PostgreSQL {} refuses the campaign's settings together: {}; correct one of {}",
        host.name(), settings_.version, message, setting_names(settings_.server));
  }
  return bad_input(
      "{}: PostgreSQL {} refuses {} = '{}': {}; correct or remove target.postgres.settings.{} in "
      "the campaign",
      host.name(), settings_.version, name, settings_.server.at(name), message, name);
}

Status Postgres::await_ready(Host& host, milliseconds timeout, std::stop_token stop) {
  const auto deadline = steady_clock::now() + timeout;
  std::string last;
  while (steady_clock::now() < deadline) {
    if (stop.stop_requested()) return stopped();
    const auto served = postgres::Connection::probe(endpoint_, stop);
    if (served) return {};
    last = served.error().message;
    if (!is_running(host)) {
      return surroundings_error("{}: PostgreSQL ended while it started: {}", host.name(),
                                log_tail(host));
    }
    std::this_thread::sleep_for(kReadyPause);
  }
  return surroundings_error("{} was not ready after {}: {}; last lines of its log: {}", host.name(),
                            format_duration(timeout), last, log_tail(host));
}

bool Postgres::is_running(Host& host) const {
  const auto output = host.run(postgres::is_running_command(place(host)), kServerTimeout);
  return !output || output->exit_status == 0;  // unreachable is not ended
}

std::string Postgres::log_tail(Host& host) const {
  const auto output = host.run(postgres::log_tail_command(place(host), kLogLines));
  if (!output) return output.error().message;
  return fmt::format("\n{}", boost::trim_right_copy(output->standard_output));
}

Status Postgres::download_logs(Host& host, const std::filesystem::path& into) {
  std::error_code failure;
  std::filesystem::create_directories(into, failure);
  if (failure) return surroundings_error("{}: {}", into.string(), failure.message());
  return host.download(place(host).log(), into / "postgres.log");
}

Result<std::string> Postgres::version(Host& host) {
  ORDEAL_TRY_ASSIGN(
      auto output,
      run_checked(host, {.arguments = {(place(host).binaries / "postgres").string(), "--version"},
                         .standard_input = {},
                         .environment = {},
                         .user = {}}));
  return boost::trim_copy(output.standard_output);
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

Result<const Host*> find_host(const TargetInput& input) {
  const auto hosts = input.cluster.hosts();
  if (hosts.empty()) return bad_input("target postgres needs a host, and the campaign has none");
  const std::string& name = input.options.text("host");
  if (name.empty()) return hosts.front();
  if (const Host* host = input.cluster.find(name)) return host;
  std::vector<std::string> names;
  for (const Host* host : hosts) names.push_back(host->name());
  return bad_input("target postgres: there is no host \"{}\"; hosts are {}", name,
                   boost::join(names, ", "));
}

}  // namespace

std::span<const OptionSpec> postgres_options() { return kOptions; }

Result<std::unique_ptr<Target>> make_postgres(const TargetInput& input) {
  ORDEAL_TRY_ASSIGN(const Host* host, find_host(input));
  Settings settings{.host = host->name(),
                    .version = input.options.text("version"),
                    .port = static_cast<int>(input.options.integer("port")),
                    .server = input.options.group("settings"),
                    .operation_timeout = input.options.duration("operation-timeout"),
                    .faketime = input.options.boolean("faketime")};
  return std::make_unique<Postgres>(std::move(settings), input, *host);
}

}  // namespace ordeal
