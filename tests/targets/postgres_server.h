// A real PostgreSQL on this machine for a test: a host of plain processes in a directory of its
// own, a free port, and the target made from settings; hosts n2, ... of standbys where wanted, and
// a system upstream. All of it is gone when the fixture is.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "targets/postgres/connection.h"
#include "targets/target.h"

namespace ordeal {

using ServerSettings = std::map<std::string, std::string>;

struct Standbys {
  std::size_t count = 0;
  std::chrono::milliseconds step_timeout{60'000};
  const Target* upstream = nullptr;
};

class PostgresServer {
 public:
  // Does not start anything; `settings` are the target's, `workload_settings` the workload's.
  explicit PostgresServer(ServerSettings settings = {}, std::string workload = "list-append",
                          ServerSettings workload_settings = {}, Standbys standbys = {});
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  void up();  // install, start, await_ready; of all hosts at once
  Status on_each(const std::function<Status(Host&)>& step) { return cluster_->for_each(step); }
  // The outcome of one of the control commands.
  void control(const Command& command) { control(host(), command); }
  void control(Host& host, const Command& command);
  std::size_t processes();  // of the server, that are alive

  Host& host() { return *cluster_->hosts().front(); }
  Host& host(std::string_view name) { return *cluster_->find(name); }
  Target& target() { return *target_; }
  ServerControl server() { return target_->control(host()); }
  sql::Endpoint endpoint() const { return endpoint(*cluster_->hosts().front()); }
  sql::Endpoint endpoint(const Host& host) const;
  std::unique_ptr<postgres::Connection> connection(std::string_view isolation = "read-committed",
                                                   std::string prepare = "");
  std::unique_ptr<Client> client();
  const std::filesystem::path& directory() const { return directory_; }
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

int free_port();

}  // namespace ordeal
