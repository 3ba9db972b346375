// A database system under test: how it is installed, started and broken on its hosts, and how
// clients reach it. Adding a system is one folder, one test, and one line of catalog.cc.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "remote/host.h"
#include "targets/client.h"

namespace ordeal {

// What faults do to the server on one host. Commands, not calls, so that the undo of a fault can be
// written down before the fault, and be carried out by another process. All are idempotent:
// starting a running server and killing a dead one succeed.
struct ServerControl {
  Command start;         // returns once launched, which is before ready
  Command kill;          // SIGKILL to every process of the server
  Command pause;         // SIGSTOP to every process
  Command resume;        // SIGCONT
  Command clock_offset;  // without its last argument: an offset for libfaketime such as "+120.5"
  int port = 0;          // where the server listens
};

class Target {
 public:
  virtual ~Target() = default;

  // Hosts that the system runs on. All of the steps below are given one of these.
  virtual std::vector<std::string> hosts() const = 0;

  // Creates data directory and configuration. Fails with surroundings where something needed is
  // missing or the port is taken, naming host and remedy.
  virtual Status install(Host& host, std::stop_token stop) = 0;
  virtual Status start(Host& host, std::stop_token stop) = 0;
  // Waits until clients are served; the error carries the last lines of the server's log.
  virtual Status await_ready(Host& host, std::chrono::milliseconds timeout,
                             std::stop_token stop) = 0;
  virtual Status stop(Host& host) = 0;  // graceful, then by force; idempotent
  virtual ServerControl control(const Host& host) const = 0;
  virtual Status download_logs(Host& host, const std::filesystem::path& into) = 0;
  virtual Result<std::string> version(Host& host) = 0;

  // A new connection for the workload of that name (see kWorkloads). Thread-safe. `process` picks
  // the host where there are several. An Error means that no operation was attempted.
  virtual Result<std::unique_ptr<Client>> connect(std::string_view workload, ProcessId process,
                                                  std::stop_token stop) = 0;
};

// What a target is made from: its own settings, the workload's (for isolation level and the like,
// already validated), and the hosts.
struct TargetInput {
  const Options& options;
  std::string workload;
  const Options& workload_options;
  const Cluster& cluster;
  std::size_t clients = 10;  // connections that the run will hold at a time
};

struct TargetEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const OptionSpec> options;
  std::vector<std::string_view> workloads;  // that its clients can carry out
  Result<std::unique_ptr<Target>> (*make)(const TargetInput& input);
};

std::span<const TargetEntry> target_catalog();

}  // namespace ordeal
