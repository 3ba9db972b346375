#include "tests/targets/server_fixture.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <thread>

#include "remote/fake_host.h"
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
  std::string pattern = (std::filesystem::temp_directory_path() / "ordeal-test-XXXXXX").string();
  REQUIRE(::mkdtemp(pattern.data()) != nullptr);
  // As root the server runs as another user, who must be able to pass.
  std::filesystem::permissions(pattern, std::filesystem::perms(0755));
  return pattern;
}

// n1 keeps its server in the directory itself.
std::unique_ptr<Host> host_number(std::size_t number, const std::string& network,
                                  const std::filesystem::path& directory) {
  HostSpec spec;
  spec.name = fmt::format("n{}", number);
  spec.address = fmt::format("{}.{}", network, number);
  spec.local = true;
  spec.directory = number == 1 ? directory : directory / spec.name;
  HostAbilities abilities;
  abilities.root = ::geteuid() == 0;
  abilities.faketime = true;
  return make_local_host(spec, abilities);
}

}  // namespace

const TargetEntry& target_entry(std::string_view name) {
  const auto entries = target_catalog();
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const TargetEntry& entry) { return entry.name == name; });
  REQUIRE(found != entries.end());
  return *found;
}

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

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool until(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  do {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

Cluster fake_cluster(std::size_t hosts) {
  std::vector<std::unique_ptr<Host>> fakes;
  for (std::size_t number = 1; number <= hosts; ++number) {
    HostSpec spec;
    spec.name = fmt::format("n{}", number);
    fakes.push_back(std::make_unique<FakeHost>(spec));
  }
  return Cluster(std::move(fakes));
}

Result<std::unique_ptr<Target>> make_target(std::string_view target, const std::string& workload,
                                            const Options::Given& given, const Cluster& cluster) {
  const TargetEntry& entry = target_entry(target);
  ORDEAL_TRY_ASSIGN(const auto options,
                    Options::make(fmt::format("target {}", target), entry.options, given));
  return entry.make({options, workload, options, cluster});
}

ServerFixture::ServerFixture(FixtureInput input)
    : directory_(temporary_directory()), port_(free_port()), workload_(std::move(input.workload)) {
  input.settings.emplace("port", std::to_string(port_));
  const TargetEntry& entry = target_entry(input.target);
  options_ = make_options("target", entry.options, input.settings);
  operation_timeout_ = options_.duration("operation-timeout");
  workload_options_ = make_options(workload_, workload_specs(workload_), input.workload_settings);
  std::vector<std::unique_ptr<Host>> hosts;
  for (std::size_t number = 1; number <= input.hosts; ++number) {
    hosts.push_back(host_number(number, input.network, directory_));
  }
  cluster_ = std::make_unique<Cluster>(std::move(hosts));
  cluster_->control_address = "127.0.0.1";
  auto target = entry.make(
      {options_, workload_, workload_options_, *cluster_, 10, input.step_timeout, input.upstream});
  REQUIRE(target);
  target_ = std::move(*target);
}

ServerFixture::~ServerFixture() {
  const Status gone = on_each([&](Host& each) -> Status {
    const ServerControl server = target().control(each);
    if (!std::filesystem::exists(server.directory / "control")) return {};
    ORDEAL_TRY(run_checked(each, server.kill));
    return target().stop(each);  // clears what a kill leaves
  });
  if (!gone) WARN("left behind: " << directory_ << ": " << gone.error().message);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

void ServerFixture::up() {
  const auto check = [](const Status& status) {
    if (!status) FAIL(status.error().message);
  };
  check(on_each([&](Host& each) { return target().install(each, {}); }));
  check(on_each([&](Host& each) { return target().start(each, {}); }));
  check(on_each(
      [&](Host& each) { return target().await_ready(each, std::chrono::seconds(60), {}); }));
}

std::string ServerFixture::control(Host& host, const Command& command) {
  const auto output = run_checked(host, command, std::chrono::seconds(30));
  if (!output) FAIL(output.error().message);
  return output->standard_output;
}

std::string ServerFixture::state(Host& host) {
  const auto output = run_checked(host, target().control(host).state);
  return output ? output->standard_output : output.error().message;
}

std::size_t ServerFixture::processes() {
  const std::string lines = control(server().processes);
  return static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n'));
}

sql::Endpoint ServerFixture::endpoint(const Host& host) const {
  return {.host = host.name(),
          .address = host.spec().address,
          .port = port_,
          .operation_timeout = operation_timeout_};
}

std::unique_ptr<Client> ServerFixture::client(std::int64_t process) {
  auto client = target_->connect(workload_, ProcessId{process}, {});
  if (!client) FAIL(client.error().message);
  return std::move(*client);
}

}  // namespace ordeal
