#include "nemesis/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "nemesis/host_choice.h"
#include "nemesis/plan.h"

namespace ordeal {
namespace {

constexpr std::string_view kDirections[] = {"both", "in", "out", "random"};
constexpr OptionSpec kOptions[] = {
    kHostsOption,
    {.name = "direction",
     .default_value = "both",
     .summary = "packets to the database (in), from it (out), both, or one of these at random",
     .choices = kDirections},
};

// $1 is iptables or ip6tables, $2 the chain. Each step looks before it acts, so that any state is a
// fine start; the last line fails when something of the chain is left. Waits for the lock (-w):
// other programs, and the watchdog, use iptables too.
constexpr std::string_view kUndo = R"(
rules=$("$1" -w 5 -S) || exit 1
for hook in INPUT OUTPUT; do
  while "$1" -w 5 -D "$hook" -j "$2" 2>/dev/null; do :; done
done
if "$1" -w 5 -S "$2" >/dev/null 2>&1; then
  "$1" -w 5 -F "$2"
  "$1" -w 5 -X "$2"
fi
rules=$("$1" -w 5 -S) || exit 1
case "$rules
" in *"-N $2
"*) echo "chain $2 could not be removed" >&2; exit 1;; esac
)";

Command iptables(const std::string& program, std::vector<std::string> arguments) {
  std::vector<std::string> all{program, "-w", "5"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return command(std::move(all));
}

// The chain is complete before a packet is sent through it, so that the partition begins at once.
std::vector<Command> drop(const std::string& program, const std::string& chain,
                          const std::string& client, int port, std::string_view direction) {
  const std::string port_text = std::to_string(port);
  std::vector<Command> commands{iptables(program, {"-N", chain})};
  const auto add = [&](const char* hook, const char* client_flag, const char* port_flag) {
    commands.push_back(iptables(program, {"-A", chain, "-p", "tcp", client_flag, client, port_flag,
                                          port_text, "-j", "DROP"}));
    return iptables(program, {"-I", hook, "-j", chain});
  };
  std::vector<Command> jumps;
  if (direction != "out") jumps.push_back(add("INPUT", "-s", "--dport"));
  if (direction != "in") jumps.push_back(add("OUTPUT", "-d", "--sport"));
  commands.insert(commands.end(), jumps.begin(), jumps.end());
  return commands;
}

Fault draw(const Options& options, const std::vector<std::string>& hosts, Random& random) {
  std::string direction = options.text("direction");
  const std::string drawn(kDirections[random.below(3)]);
  if (direction == "random") direction = drawn;
  return {.name = "partition",
          .hosts = draw_hosts(options.text("hosts"), hosts, random),
          .parameters = {{"direction", direction}}};
}

std::string detail(const Fault& fault, const Battlefield& battlefield) {
  const std::string& direction = fault.parameters.at("direction");
  return fmt::format("{} {} between clients at {} and the database port",
                     fmt::join(fault.hosts, ", "),
                     direction == "both" ? "drop packets in both directions"
                     : direction == "in" ? "drop packets to the database"
                                         : "drop packets from the database",
                     battlefield.control_address);
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  const std::string& client = battlefield.control_address;
  if (client.empty()) {
    return internal_error("fault partition: the address of the control node is not known");
  }
  const std::string program = client.find(':') == std::string::npos ? "iptables" : "ip6tables";
  const std::string chain = partition_chain(battlefield.run_id);
  FaultPlan result{.detail = detail(fault, battlefield), .inject = {}, .undo = {}};
  for (const std::string& name : fault.hosts) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const int port = battlefield.server(*host).port;
    if (port <= 0 || port == host->spec().ssh_port) {
      return internal_error("fault partition: port {} of the database on {} cannot be cut", port,
                            name);
    }
    result.inject.push_back(
        {name, drop(program, chain, client, port, fault.parameters.at("direction"))});
    result.undo.push_back(
        {name, {command({"sh", "-c", std::string(kUndo), "sh", program, chain})}});
  }
  return result;
}

}  // namespace

// Run ids end in what tells them apart, so the end is what is kept.
std::string partition_chain(const std::string& run_id) {
  constexpr std::string_view prefix = "ORDEAL-";
  constexpr std::size_t length_max = 28;
  const std::size_t kept = std::min(run_id.size(), length_max - prefix.size());
  return std::string(prefix) + run_id.substr(run_id.size() - kept);
}

FaultEntry partition_fault() {
  return {.name = "partition",
          .summary = "drops packets between the clients and the database port (iptables)",
          .need = FaultNeed::packet_filter,
          .options = kOptions,
          .draw = draw,
          .plan = plan};
}

}  // namespace ordeal
