#include "tests/targets/postgres_server.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "remote/local_host.h"
#include "workloads/workload.h"

namespace ordeal {
namespace {

Options make_options(std::string_view kind, std::span<const OptionSpec> specs,
                     const ServerSettings& settings) {
  Options::Given given;
  for (const auto& [name, value] : settings) given[name] = {value, "test"};
  auto options = Options::make(kind, specs, given);
  REQUIRE(options);
  return std::move(*options);
}

std::span<const OptionSpec> workload_specs(std::string_view name) {
  for (const auto& entry : workload_catalog()) {
    if (entry.name == name) return entry.options;
  }
  FAIL("no workload " << name);
  return {};
}

std::filesystem::path temporary_directory() {
  std::string pattern = (std::filesystem::temp_directory_path() / "ordeal-pg-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  // As root the server runs as another user, who must be able to pass.
  std::filesystem::permissions(pattern, std::filesystem::perms(0755));
  return pattern;
}

// n1 keeps its server in the directory itself.
std::unique_ptr<Host> host_number(std::size_t number, const std::filesystem::path& directory) {
  HostSpec spec;
  spec.name = fmt::format("n{}", number);
  spec.address = fmt::format("127.0.0.{}", number);
  spec.local = true;
  spec.directory = number == 1 ? directory : directory / spec.name;
  HostAbilities abilities;
  abilities.root = ::geteuid() == 0;
  abilities.faketime = true;
  return make_local_host(spec, abilities);
}

}  // namespace

int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  REQUIRE(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

PostgresServer::PostgresServer(ServerSettings settings, std::string workload,
                               ServerSettings workload_settings, Standbys standbys)
    : directory_(temporary_directory()), port_(free_port()), workload_(std::move(workload)) {
  settings.emplace("settings.fsync", "off");  // a test need not wait for the disk
  settings.emplace("port", std::to_string(port_));
  for (std::size_t number = 2; number <= standbys.count + 1; ++number) {
    settings["standbys"] += fmt::format("n{},", number);
  }
  const TargetEntry& entry = target_catalog().front();
  options_ = make_options("target postgres", entry.options, settings);
  operation_timeout_ = options_.duration("operation-timeout");
  workload_options_ = make_options(workload_, workload_specs(workload_), workload_settings);
  std::vector<std::unique_ptr<Host>> hosts;
  for (std::size_t number = 1; number <= standbys.count + 1; ++number) {
    hosts.push_back(host_number(number, directory_));
  }
  cluster_ = std::make_unique<Cluster>(std::move(hosts));
  cluster_->control_address = "127.0.0.1";
  auto target = entry.make({options_, workload_, workload_options_, *cluster_, 10,
                            standbys.step_timeout, standbys.upstream});
  REQUIRE(target);
  target_ = std::move(*target);
}

PostgresServer::~PostgresServer() {
  const Status gone = on_each([&](Host& each) -> Status {
    if (!std::filesystem::exists(each.spec().directory / "postgres" / "control")) return {};
    ORDEAL_TRY(run_checked(each, target().control(each).kill));
    return target().stop(each);  // clears what a kill leaves
  });
  if (!gone) WARN("left behind: " << directory_ << ": " << gone.error().message);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void PostgresServer::up() {
  const auto check = [](const Status& status) {
    if (!status) FAIL(status.error().message);
  };
  check(on_each([&](Host& each) { return target().install(each, {}); }));
  check(on_each([&](Host& each) { return target().start(each, {}); }));
  check(on_each(
      [&](Host& each) { return target().await_ready(each, std::chrono::seconds(60), {}); }));
}

void PostgresServer::control(Host& host, const Command& command) {
  const auto output = run_checked(host, command, std::chrono::seconds(30));
  if (!output) FAIL(output.error().message);
}

std::size_t PostgresServer::processes() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::error_code failed;
    const auto cwd = std::filesystem::read_symlink(entry.path() / "cwd", failed);
    if (!failed && cwd == directory_ / "postgres" / "data") ++count;
  }
  return count;
}

sql::Endpoint PostgresServer::endpoint(const Host& host) const {
  return {.host = host.name(),
          .address = host.spec().address,
          .port = port_,
          .operation_timeout = operation_timeout_};
}

std::unique_ptr<postgres::Connection> PostgresServer::connection(std::string_view isolation,
                                                                 std::string prepare) {
  auto connection = postgres::Connection::open(endpoint(), isolation, std::move(prepare), {});
  if (!connection) FAIL(connection.error().message);
  return std::move(*connection);
}

std::unique_ptr<Client> PostgresServer::client() {
  auto client = target_->connect(workload_, ProcessId{0}, {});
  if (!client) FAIL(client.error().message);
  return std::move(*client);
}

}  // namespace ordeal
