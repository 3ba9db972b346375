#include "orchestrator/lab/netns_lab.h"

#include <sys/wait.h>
#include <unistd.h>

#include <sstream>
#include <thread>

#include "orchestrator/lab/processes.h"
#include "orchestrator/lab/scaffold.h"

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kBootTimeout{30'000};
// The clock is the machine's, and a host must not boot it or change its kernel.
constexpr std::string_view kDropped = "-sys_time,-sys_boot,-sys_module,-sys_rawio";

class Builder {
 public:
  Builder(const LabRequest& request, std::stop_token stop)
      : request_(request), scaffold_(request, std::move(stop)) {}

  Result<Lab> build() {
    ORDEAL_TRY(scaffold_.build(Scaffold::Plug::cable));
    ORDEAL_TRY(write_file(state() / "host-init", kHostInit));
    return boot_all();
  }

 private:
  const std::filesystem::path& state() const { return scaffold_.places().state; }

  Result<pid_t> boot(const std::string& host) const {
    return start_daemon(
        scaffold_.marked({"nsenter",
                          fmt::format("--net={}/{}", kNetnsDirectory, scaffold_.netns(host)),
                          "unshare",
                          "--mount",
                          "--uts",
                          "--ipc",
                          "--pid",
                          "--fork",
                          "--kill-child",
                          "setpriv",
                          "--bounding-set",
                          std::string(kDropped),
                          "--inh-caps",
                          std::string(kDropped),
                          "bash",
                          (state() / "host-init").string(),
                          host,
                          state().string(),
                          scaffold_.places().scratch.string(),
                          std::to_string(request_.disk_mib)}),
        state() / host / "boot.log");
  }

  Result<Lab> boot_all() const {
    std::vector<pid_t> pids;
    for (const std::string& host : request_.hosts) {
      ORDEAL_TRY_ASSIGN(const pid_t pid, boot(host));
      pids.push_back(pid);
    }
    Lab lab{"netns", request_.name, {}, {}, std::string(kControlAddress)};
    const auto deadline = Clock::now() + kBootTimeout;
    for (std::size_t i = 0; i < pids.size(); ++i) {
      ORDEAL_TRY_ASSIGN(const HostAbilities abilities, await(i, pids[i], deadline));
      lab.hosts.push_back(scaffold_.spec(i));
      lab.abilities.push_back(abilities);
    }
    return lab;
  }

  std::string boot_log(const std::string& host) const {
    const std::string log = read_file(state() / host / "boot.log");
    return log.empty() ? "its log is empty"
                       : "its log ends: " + log.substr(log.size() > 500 ? log.size() - 500 : 0);
  }

  // Until sshd listens and the abilities are known.
  Result<HostAbilities> await(std::size_t i, pid_t pid, Clock::time_point deadline) const {
    const std::string& host = request_.hosts[i];
    while (true) {
      const std::string init = first_word(read_file(state() / host / "pid"));
      if (!init.empty() && listens_for_ssh(init)) {
        const std::string found = read_file("/proc/" + init + "/root/run/ordeal/abilities");
        if (!found.empty()) return abilities_from(found);
      }
      if (waitpid(pid, nullptr, WNOHANG) == pid) {
        return surroundings_error("host {} of lab {} did not boot; {}", host, request_.name,
                                  boot_log(host));
      }
      if (scaffold_.stop().stop_requested()) return stopped();
      if (Clock::now() > deadline) {
        return surroundings_error("host {} of lab {} was not up after {} s; {}", host,
                                  request_.name, kBootTimeout.count() / 1000, boot_log(host));
      }
      std::this_thread::sleep_for(milliseconds(5));
    }
  }

  static std::string first_word(const std::string& text) {
    return text.ends_with('\n') ? text.substr(0, text.find('\n')) : "";
  }

  // proc(5), net/tcp: a socket in state 0A listens; ports are in hexadecimal.
  static bool listens_for_ssh(const std::string& pid) {
    std::istringstream table(read_file("/proc/" + pid + "/net/tcp"));
    for (std::string line; std::getline(table, line);) {
      if (line.find(":0016 00000000:0000 0A") != std::string::npos) return true;
    }
    return false;
  }

  HostAbilities abilities_from(const std::string& found) const {
    return {.root = true,
            .packet_filter = found.find("packet_filter=1") != std::string::npos,
            .own_clock = false,
            .faketime = libfaketime_installed(),
            .netem = found.find("netem=1") != std::string::npos,
            .tbf = found.find("tbf=1") != std::string::npos,
            .own_disk = request_.disk_mib != 0,
            .tracing = may_trace()};
  }

  const LabRequest& request_;
  const Scaffold scaffold_;
};

}  // namespace

Status check_netns_possible() {
  return check_lab_possible(
      "netns", {"bash", "ip", "iptables", "nsenter", "setpriv", "ssh-keygen", "sshd", "unshare"},
      "iproute2, iptables, openssh-client, openssh-server, util-linux");
}

Result<Lab> build_netns_lab(const LabRequest& request, std::stop_token stop) {
  return Builder(request, std::move(stop)).build();
}

}  // namespace ordeal
