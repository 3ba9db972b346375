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
  Command start;   // returns once launched, which is before ready
  Command stop;    // in the system's own way, then by force
  Command kill;    // SIGKILL to every process of the server
  Command pause;   // SIGSTOP to every process
  Command resume;  // SIGCONT
  Command state;   // prints what the processes do: running, stopped, mixed or absent
  // Without its last argument: an offset for libfaketime such as "+120.5". No arguments where
  // libfaketime does not reach the server's clock.
  Command clock_offset;
  // Prints by how many seconds the clock that a client of the server sees is ahead of the host's
  // own, e.g. "-37.502"; fails where the server does not answer.
  Command clock_reading;
  Command age;          // prints how many seconds ago its oldest process began
  Command processes{};  // prints the numbers of all its processes, one a line
  // Has the server make some small change durable, and waits for that as a client would. Fails
  // where the server takes none, as a standby does.
  Command commit{};
  int port = 0;                     // where the server listens
  std::filesystem::path directory;  // on the host: all of the server's files are in it
  // A shell's pattern of files that hold user data, for faults of the disk; "" where not known.
  std::filesystem::path data_file;
};

// The clients' end of a leg.
inline constexpr std::string_view kControlNode = "control";

// One way that connections take: from a host, or kControlNode, to a port of another host.
struct Path {
  std::string from;
  std::string to;
  std::string address;  // of `to`
  int port = 0;
  // Where the path leads through the run's fault proxy: the name of its listener there, and the
  // port on the control node.
  std::string listener{};
  int listener_port = 0;
  friend bool operator==(const Path&, const Path&) = default;
};

// A kind of connection of the system, e.g. "client-db" or "replication": what campaigns and faults
// name in place of addresses.
struct Leg {
  std::string name;
  std::vector<Path> paths;
  // All who connect to a host are told one address of it, so that the paths to it, if they lead
  // through the fault proxy, share a listener.
  bool one_address = false;
  friend bool operator==(const Leg&, const Leg&) = default;
};

// Where a server is reached.
struct Endpoint {
  std::string host;
  std::string address;
  int port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

class Target {
 public:
  virtual ~Target() = default;

  // Hosts that the system runs on. All of the steps below are given one of these.
  virtual std::vector<std::string> hosts() const = 0;
  // What the server on that host is to the system: "db", "primary", "standby".
  virtual std::string role(const std::string& host) const = 0;
  virtual std::vector<Leg> legs() const = 0;
  // Before install(): the path's connections are to be opened to this address instead, where
  // something stands in the way to the server. bad_input where the system can't be told so.
  virtual Status reroute(const std::string& leg, const Path& path, const std::string& address,
                         int port) = 0;
  // Of the servers that take changes, for a system downstream of this one.
  virtual std::vector<Endpoint> endpoints() const { return {}; }
  // Before install(): servers of a system downstream, at these addresses, will connect as well.
  virtual void admit(const std::vector<std::string>& /*addresses*/) {}

  // Creates data directory and configuration. Fails with surroundings where something needed is
  // missing or the port is taken, naming host and remedy.
  virtual Status install(Host& host, std::stop_token stop) = 0;
  // All hosts are started at once: one that needs another's data waits for it.
  virtual Status start(Host& host, std::stop_token stop) = 0;
  // Waits until clients are served; the error carries the last lines of the server's log.
  virtual Status await_ready(Host& host, std::chrono::milliseconds timeout,
                             std::stop_token stop) = 0;
  // Once the workload's objects are there: begins to take the data of the system upstream, and
  // waits until it has what there is.
  virtual Status follow(Host& /*host*/, std::stop_token /*stop*/) { return {}; }
  virtual Status stop(Host& host) = 0;  // graceful, then by force; idempotent
  virtual ServerControl control(const Host& host) const = 0;
  virtual Status download_logs(Host& host, const std::filesystem::path& into) = 0;
  virtual Result<std::string> version(Host& host) = 0;
  // The hosts of the system that the server on this host counts as its members now, itself
  // included, as far as it knows: a standby knows its primary, and no other standbys.
  virtual Result<std::vector<std::string>> members(Host& host) = 0;

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
  const Cluster& cluster;                          // of the system's hosts; outlives the target
  std::size_t clients = 10;                        // connections that the run will hold at a time
  std::chrono::milliseconds step_timeout{60'000};  // for each step of set-up on each host
  const Target* upstream = nullptr;                // the system that it depends on, if any
};

struct TargetEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const OptionSpec> options;
  std::vector<std::string_view> workloads;  // that its clients can carry out
  Result<std::unique_ptr<Target>> (*make)(const TargetInput& input);
  // All that there may be, whatever the settings.
  std::vector<std::string_view> roles{};
  std::vector<std::string_view> legs{};
  std::vector<std::string_view> upstreams{};  // targets of which a system can be upstream of it
};

std::span<const TargetEntry> target_catalog();

}  // namespace ordeal
