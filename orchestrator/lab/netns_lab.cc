#include "orchestrator/lab/netns_lab.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "orchestrator/lab/lab_state.h"
#include "orchestrator/lab/processes.h"
#include "remote/process.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::string_view kNetwork = "10.77.0";  // /24, in every lab
constexpr std::string_view kControlAddress = "10.77.0.1";
constexpr std::size_t kHostsMax = 200;
constexpr milliseconds kToolTimeout{20'000};
constexpr milliseconds kBootTimeout{30'000};
// The clock is the machine's, and a host must not boot it or change its kernel.
constexpr std::string_view kDropped = "-sys_time,-sys_boot,-sys_module,-sys_rawio";

std::string address_of(std::size_t host) { return fmt::format("{}.{}", kNetwork, 11 + host); }

// Tools and hosts are started with the mark, so that those of a killed builder are found.
class Builder {
 public:
  Builder(const LabRequest& request, std::stop_token stop)
      : request_(request), places_(lab_places(request.name)), stop_(std::move(stop)) {}

  Result<Lab> build() {
    ORDEAL_TRY(write_common_files());
    std::vector<Status> results(request_.hosts.size() + 1);
    {
      std::vector<std::jthread> threads;
      threads.emplace_back(
          [&] { results.back() = make_key(places_.state / "id", "ordeal-control"); });
      for (std::size_t i = 0; i < request_.hosts.size(); ++i) {
        threads.emplace_back([&, i] { results[i] = prepare_host(i); });
      }
      network_ = make_network();
    }
    ORDEAL_TRY(network_);
    for (const Status& result : results) ORDEAL_TRY(result);
    ORDEAL_TRY(write_known_hosts());
    return boot_all();
  }

 private:
  ProcessRequest marked(std::vector<std::string> arguments, std::string input = {}) const {
    return {
        std::move(arguments), std::move(input), {{std::string(kNetnsMarkVariable), request_.name}}};
  }

  Status tool(std::vector<std::string> arguments, std::string input = {}) const {
    return run_process_checked(marked(std::move(arguments), std::move(input)), kToolTimeout, stop_);
  }

  std::string netns(std::string_view host) const { return netns_name(request_.name, host); }

  Status write_common_files() const {
    std::string hosts = fmt::format("127.0.0.1 localhost\n{} ctl\n", kControlAddress);
    for (std::size_t i = 0; i < request_.hosts.size(); ++i) {
      hosts += fmt::format("{} {}\n", address_of(i), request_.hosts[i]);
    }
    ORDEAL_TRY(write_file(places_.state / "hosts", hosts));
    ORDEAL_TRY(write_file(places_.state / "host-init", kHostInit));
    // Where `ip netns exec` takes /etc/hosts from.
    const fs::path names = fs::path("/etc/netns") / netns("ctl");
    std::error_code error;
    fs::create_directories(names, error);
    return write_file(names / "hosts", hosts);
  }

  Status make_key(const fs::path& file, const std::string& comment) const {
    return tool(
        {"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", file.string()});
  }

  Status prepare_host(std::size_t i) const {
    const std::string& host = request_.hosts[i];
    std::error_code error;
    fs::create_directories(places_.state / host, error);
    fs::create_directories(places_.scratch / host, error);
    if (error)
      return surroundings_error("cannot make directories of host {}: {}", host, error.message());
    ORDEAL_TRY(write_file(places_.state / host / "sshd_config",
                          fmt::format("{}ListenAddress {}\n", kSshdConfig, address_of(i))));
    return make_key(places_.state / host / "host_key", host);
  }

  // Namespaces first, in one go; both ends of each cable are made where they belong, so that the
  // machine's own namespace never has them.
  Status make_network() const {
    std::string batch = fmt::format("netns add {}\nnetns add {}\n", netns("sw"), netns("ctl"));
    for (const std::string& host : request_.hosts)
      batch += fmt::format("netns add {}\n", netns(host));
    ORDEAL_TRY(tool({"ip", "-batch", "-"}, batch));

    std::string sw =
        "link set lo up\nlink add br0 type bridge forward_delay 0 stp_state 0\nlink set br0 up\n";
    sw += plug("ctl", 0);
    for (std::size_t i = 0; i < request_.hosts.size(); ++i) sw += plug(request_.hosts[i], i + 1);
    ORDEAL_TRY(tool({"ip", "-n", netns("sw"), "-batch", "-"}, sw));

    ORDEAL_TRY(configure("ctl", std::string(kControlAddress)));
    for (std::size_t i = 0; i < request_.hosts.size(); ++i) {
      ORDEAL_TRY(configure(request_.hosts[i], address_of(i)));
    }
    return {};
  }

  std::string plug(const std::string& host, std::size_t number) const {
    return fmt::format(
        "link add p{0} type veth peer name eth0 netns {1}\nlink set p{0} master br0 up\n", number,
        netns(host));
  }

  Status configure(const std::string& host, const std::string& address) const {
    return tool(
        {"ip", "-n", netns(host), "-batch", "-"},
        fmt::format("link set lo up\naddr add {}/24 dev eth0\nlink set eth0 up\n", address));
  }

  Status write_known_hosts() const {
    std::string lines;
    for (std::size_t i = 0; i < request_.hosts.size(); ++i) {
      const std::string& host = request_.hosts[i];
      std::istringstream key(read_file(places_.state / host / "host_key.pub"));
      std::string type;
      std::string data;
      key >> type >> data;
      lines += fmt::format("{},{} {} {}\n", host, address_of(i), type, data);
    }
    return write_file(places_.state / "known_hosts", lines);
  }

  Result<pid_t> boot(const std::string& host) const {
    return start_daemon(marked({"nsenter",
                                fmt::format("--net={}/{}", kNetnsDirectory, netns(host)),
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
                                (places_.state / "host-init").string(),
                                host,
                                places_.state.string(),
                                places_.scratch.string(),
                                std::to_string(request_.disk_mib)}),
                        places_.state / host / "boot.log");
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
      lab.hosts.push_back(spec(i));
      lab.abilities.push_back(abilities);
    }
    return lab;
  }

  HostSpec spec(std::size_t i) const {
    HostSpec spec;
    spec.name = request_.hosts[i];
    spec.address = address_of(i);
    spec.identity = places_.state / "id";
    spec.known_hosts = places_.state / "known_hosts";
    spec.directory = "/var/lib/ordeal";
    return spec;
  }

  std::string boot_log(const std::string& host) const {
    const std::string log = read_file(places_.state / host / "boot.log");
    return log.empty() ? "its log is empty"
                       : "its log ends: " + log.substr(log.size() > 500 ? log.size() - 500 : 0);
  }

  // Until sshd listens and the abilities are known.
  Result<HostAbilities> await(std::size_t i, pid_t pid, Clock::time_point deadline) const {
    const std::string& host = request_.hosts[i];
    while (true) {
      const std::string init = first_word(read_file(places_.state / host / "pid"));
      if (!init.empty() && listens_for_ssh(init)) {
        const std::string found = read_file("/proc/" + init + "/root/run/ordeal/abilities");
        if (!found.empty()) return abilities_from(found);
      }
      if (waitpid(pid, nullptr, WNOHANG) == pid) {
        return surroundings_error("host {} of lab {} did not boot; {}", host, request_.name,
                                  boot_log(host));
      }
      if (stop_.stop_requested()) return stopped();
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
  const LabPlaces places_;
  const std::stop_token stop_;
  Status network_;
};

}  // namespace

std::string netns_name(std::string_view lab, std::string_view host) {
  return fmt::format("ordeal-{}-{}", lab, host);
}

std::string netns_mark(std::string_view lab) {
  return fmt::format("{}={}", kNetnsMarkVariable, lab);
}

Status check_netns_possible() {
  if (geteuid() != 0) {
    return surroundings_error("lab netns needs root; run as root or use lab: local");
  }
  std::string missing;
  for (const char* tool :
       {"bash", "ip", "iptables", "nsenter", "setpriv", "ssh-keygen", "sshd", "unshare"}) {
    if (!program_exists(tool)) missing += std::string(missing.empty() ? "" : ", ") + tool;
  }
  if (missing.empty()) return {};
  return surroundings_error(
      "lab netns needs programs that are not installed: {} (packages iproute2, iptables, "
      "openssh-client, openssh-server, util-linux)",
      missing);
}

Result<Lab> build_netns_lab(const LabRequest& request, std::stop_token stop) {
  if (request.hosts.size() > kHostsMax) {
    return bad_input("lab netns has at most {} hosts, not {}", kHostsMax, request.hosts.size());
  }
  return Builder(request, std::move(stop)).build();
}

}  // namespace ordeal
