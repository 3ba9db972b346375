// A real system on this machine for a test: hosts of plain processes in a directory of their own, a
// free port, and the target made from settings. All of it is gone when the fixture is.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "targets/sql/connection.h"
#include "targets/target.h"

namespace ordeal {

using ServerSettings = std::map<std::string, std::string>;

struct FixtureInput {
  std::string_view target;
  ServerSettings settings;  // the target's; the port is added
  std::string workload = "list-append";
  ServerSettings workload_settings{};
  std::size_t hosts = 1;            // n1, n2, ...
  std::string network = "127.0.0";  // of their addresses
  std::chrono::milliseconds step_timeout{60'000};
  const Target* upstream = nullptr;
};

class ServerFixture {
 public:
  explicit ServerFixture(FixtureInput input);  // does not start anything
  virtual ~ServerFixture();
  ServerFixture(const ServerFixture&) = delete;
  ServerFixture& operator=(const ServerFixture&) = delete;

  void up();  // install, start, await_ready; of all hosts at once
  Status on_each(const std::function<Status(Host&)>& step) { return cluster_->for_each(step); }
  // Runs one of the control commands; its output.
  std::string control(const Command& command) { return control(host(), command); }
  std::string control(Host& host, const Command& command);
  std::string state(Host& host);
  std::size_t processes();  // of the first host's server, that are alive

  Host& host() { return *cluster_->hosts().front(); }
  Host& host(std::string_view name) { return *cluster_->find(name); }
  Target& target() { return *target_; }
  ServerControl server() { return target_->control(host()); }
  sql::Endpoint endpoint() { return endpoint(host()); }
  sql::Endpoint endpoint(const Host& host) const;
  std::unique_ptr<Client> client(std::int64_t process = 0);
  const std::filesystem::path& directory() const { return directory_; }
  // Of the first host's server.
  std::filesystem::path place() { return server().directory; }
  int port() const { return port_; }

 private:
  std::filesystem::path directory_;
  int port_;
  std::string workload_;
  Options options_;
  Options workload_options_;
  std::chrono::milliseconds operation_timeout_{0};
  std::unique_ptr<Cluster> cluster_;
  std::unique_ptr<Target> target_;
};

// Hosts n1, n2, ... that do nothing, for what is decided before any command.
Cluster fake_cluster(std::size_t hosts);
Result<std::unique_ptr<Target>> make_target(std::string_view target, const std::string& workload,
                                            const Options::Given& given, const Cluster& cluster);
const TargetEntry& target_entry(std::string_view name);
int free_port();
std::string text_of(const std::filesystem::path& path);
// Asks again and again; false when the patience is at its end.
bool until(const std::function<bool()>& condition,
           std::chrono::milliseconds patience = std::chrono::seconds(5));

}  // namespace ordeal
