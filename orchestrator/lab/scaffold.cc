#include "orchestrator/lab/scaffold.h"

#include <unistd.h>

#include <sstream>
#include <thread>

#include "orchestrator/lab/processes.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::string_view kNetwork = "10.77.0";  // /24, in every lab
constexpr milliseconds kToolTimeout{20'000};

}  // namespace

std::string netns_name(std::string_view lab, std::string_view host) {
  return fmt::format("ordeal-{}-{}", lab, host);
}

std::string lab_mark(std::string_view lab) { return fmt::format("{}={}", kLabMarkVariable, lab); }

std::string missing_tools(const std::vector<std::string>& programs) {
  std::string missing;
  for (const std::string& program : programs) {
    if (!program_exists(program)) missing += (missing.empty() ? "" : ", ") + program;
  }
  return missing;
}

Status check_lab_possible(std::string_view kind, const std::vector<std::string>& programs,
                          std::string_view packages) {
  if (geteuid() != 0) {
    return surroundings_error("lab {} needs root; run as root or use lab: local", kind);
  }
  const std::string missing = missing_tools(programs);
  if (missing.empty()) return {};
  return surroundings_error("lab {} needs programs that are not installed: {} (packages {})", kind,
                            missing, packages);
}

Scaffold::Scaffold(const LabRequest& request, std::stop_token stop)
    : request_(request), places_(lab_places(request.name)), stop_(std::move(stop)) {}

Status Scaffold::build(Plug plug) const {
  ORDEAL_TRY(write_names());
  std::vector<Status> results(hosts().size() + 1);
  Status network;
  {
    std::vector<std::jthread> threads;
    threads.emplace_back(
        [&] { results.back() = make_key(places_.state / "id", "ordeal-control"); });
    for (std::size_t i = 0; i < hosts().size(); ++i) {
      threads.emplace_back([&, i] { results[i] = prepare_host(i); });
    }
    network = make_network(plug);
  }
  ORDEAL_TRY(network);
  for (const Status& result : results) ORDEAL_TRY(result);
  return write_known_hosts();
}

std::string Scaffold::address(std::size_t host) const {
  return fmt::format("{}.{}", kNetwork, 11 + host);
}

std::string Scaffold::device(std::size_t host) const { return fmt::format("p{}", host + 1); }

HostSpec Scaffold::spec(std::size_t host) const {
  HostSpec spec;
  spec.name = hosts()[host];
  spec.address = address(host);
  spec.identity = places_.state / "id";
  spec.known_hosts = places_.state / "known_hosts";
  spec.directory = "/var/lib/ordeal";
  return spec;
}

ProcessRequest Scaffold::marked(std::vector<std::string> arguments, std::string input) const {
  return {std::move(arguments), std::move(input), {{std::string(kLabMarkVariable), request_.name}}};
}

Status Scaffold::tool(std::vector<std::string> arguments, std::string input) const {
  return run_process_checked(marked(std::move(arguments), std::move(input)), kToolTimeout, stop_);
}

Status Scaffold::write_names() const {
  std::string names = fmt::format("127.0.0.1 localhost\n{} ctl\n", kControlAddress);
  for (std::size_t i = 0; i < hosts().size(); ++i) {
    names += fmt::format("{} {}\n", address(i), hosts()[i]);
  }
  ORDEAL_TRY(write_file(places_.state / "hosts", names));
  // Where `ip netns exec` takes /etc/hosts from.
  const fs::path directory = fs::path("/etc/netns") / netns("ctl");
  std::error_code error;
  fs::create_directories(directory, error);
  return write_file(directory / "hosts", names);
}

Status Scaffold::make_key(const fs::path& file, const std::string& comment) const {
  return tool({"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", file.string()});
}

Status Scaffold::prepare_host(std::size_t host) const {
  const std::string& name = hosts()[host];
  std::error_code error;
  fs::create_directories(places_.state / name, error);
  fs::create_directories(places_.scratch / name, error);
  if (error)
    return surroundings_error("cannot make directories of host {}: {}", name, error.message());
  ORDEAL_TRY(write_file(places_.state / name / "sshd_config",
                        fmt::format("{}ListenAddress {}\n", kSshdConfig, address(host))));
  return make_key(places_.state / name / "host_key", name);
}

// Namespaces first, in one go; both ends of each cable are made where they belong, so that the
// machine's own namespace never has them.
Status Scaffold::make_network(Plug plug) const {
  std::string batch = fmt::format("netns add {}\nnetns add {}\n", netns("sw"), netns("ctl"));
  if (plug == Plug::cable) {
    for (const std::string& host : hosts()) batch += fmt::format("netns add {}\n", netns(host));
  }
  ORDEAL_TRY(tool({"ip", "-batch", "-"}, batch));

  std::string sw =
      "link set lo up\nlink add br0 type bridge forward_delay 0 stp_state 0\nlink set br0 up\n";
  sw += plug_in(Plug::cable, "ctl", 0);
  for (std::size_t i = 0; i < hosts().size(); ++i) sw += plug_in(plug, hosts()[i], i + 1);
  ORDEAL_TRY(tool({"ip", "-n", netns("sw"), "-batch", "-"}, sw));

  ORDEAL_TRY(configure("ctl", std::string(kControlAddress)));
  if (plug == Plug::tap) return {};
  for (std::size_t i = 0; i < hosts().size(); ++i) ORDEAL_TRY(configure(hosts()[i], address(i)));
  return {};
}

std::string Scaffold::plug_in(Plug plug, const std::string& host, std::size_t number) const {
  const std::string add =
      plug == Plug::tap
          ? fmt::format("tuntap add p{} mode tap\n", number)
          : fmt::format("link add p{} type veth peer name eth0 netns {}\n", number, netns(host));
  return add + fmt::format("link set p{} master br0 up\n", number);
}

Status Scaffold::configure(const std::string& host, const std::string& address) const {
  return tool({"ip", "-n", netns(host), "-batch", "-"},
              fmt::format("link set lo up\naddr add {}/24 dev eth0\nlink set eth0 up\n", address));
}

Status Scaffold::write_known_hosts() const {
  std::string lines;
  for (std::size_t i = 0; i < hosts().size(); ++i) {
    std::istringstream key(read_file(places_.state / hosts()[i] / "host_key.pub"));
    std::string type;
    std::string data;
    key >> type >> data;
    lines += fmt::format("{},{} {} {}\n", hosts()[i], address(i), type, data);
  }
  return write_file(places_.state / "known_hosts", lines);
}

const std::string_view kSshdConfig = R"(Port 22
HostKey /etc/ssh/ordeal_host_key
PidFile /run/sshd/pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 200
MaxSessions 200
Subsystem sftp internal-sftp
)";

}  // namespace ordeal
