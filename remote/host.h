// A machine that takes part in a run, and the cluster of them. Everything above this file sees
// hosts only through this interface, whether they are namespaces, guests, the user's own machines
// over SSH, or plain processes of this machine.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "remote/command.h"

namespace ordeal {

// How to reach a host. `kind` decides which fields count. Written into a run's folder (without
// secrets: the key is a path), so that `ordeal heal` reaches the same hosts.
struct HostSpec {
  std::string name;     // "n1"; also the name in known_hosts
  std::string address;  // where databases listen: an IP address
  int ssh_port = 22;
  std::string user = "root";
  std::filesystem::path identity;     // private key; empty: the agent's or the default keys
  std::filesystem::path known_hosts;  // checked strictly
  bool local = false;                 // no SSH: processes of this machine
  std::filesystem::path directory;    // where servers keep their data on the host
  // A shell command whose standard streams lead to the host's sshd (through a jump host); empty: a
  // TCP connection to the address.
  std::string proxy_command;
  // A shell script on the control node, `sh power on|off|state`, that cuts and restores its power
  // (orchestrator/lab/guest.h); empty where there is none.
  std::filesystem::path power{};
};

// What faults and servers may rely on, found by the lab or by probing.
struct HostAbilities {
  bool root = false;           // commands can run as root
  bool packet_filter = false;  // iptables works and is the host's own
  bool own_clock = false;      // setting the clock affects this host alone
  bool faketime = false;       // libfaketime is installed
  bool netem = false;          // root can have packets delayed, reordered, ... (tc, sch_netem)
  bool tbf = false;            // root can limit bandwidth (tc, sch_tbf)
  bool own_disk = false;       // filling the disk of its servers harms nothing but this host
  bool tracing = false;        // strace is there, and may attach to the servers' processes
  bool power = false;          // HostSpec::power works
};

inline constexpr std::chrono::milliseconds kCommandTimeout{10'000};

// All members are thread-safe, and block the calling thread.
class Host {
 public:
  virtual ~Host() = default;

  virtual const HostSpec& spec() const = 0;
  virtual const HostAbilities& abilities() const = 0;

  // Connects anew (SSH), also where there are connections already, and checks the host key and the
  // login. The error names host, user, key and step.
  virtual Status preflight(std::chrono::milliseconds timeout) = 0;

  // Runs to the end. An exit status other than 0 is no Error; failing to run, to connect, or a
  // time-out is. Reconnects where the connection was lost before the command was sent.
  virtual Result<CommandOutput> run(const Command& command,
                                    std::chrono::milliseconds timeout = kCommandTimeout,
                                    std::stop_token stop = {}) = 0;
  virtual Status upload(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  virtual Status download(const std::filesystem::path& from, const std::filesystem::path& to) = 0;

  const std::string& name() const { return spec().name; }
};

// As Host::run, but an exit status other than 0 is an Error that names host, command, status and
// the last line of stderr.
Result<CommandOutput> run_checked(Host& host, const Command& command,
                                  std::chrono::milliseconds timeout = kCommandTimeout,
                                  std::stop_token stop = {});

class Cluster {
 public:
  Cluster() = default;
  explicit Cluster(std::vector<std::unique_ptr<Host>> hosts)
      : hosts_(std::make_move_iterator(hosts.begin()), std::make_move_iterator(hosts.end())) {}

  std::vector<Host*> hosts() const;
  Host* find(std::string_view name) const;  // nullptr where there is none
  // Only the hosts of these names; both clusters share them.
  Cluster only(const std::vector<std::string>& names) const;
  // Runs `step` for all hosts at once, a thread each, waits for all, and joins their errors.
  Status for_each(const std::function<Status(Host&)>& step) const;

  // Address from which clients on the control node reach the hosts.
  std::string control_address;

 private:
  std::vector<std::shared_ptr<Host>> hosts_;
};

}  // namespace ordeal
