// ordeal hosts check: what each host is, and which faults can be done there, before a campaign
// needs to know.
#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.h"
#include "cli/host_choice.h"
#include "cli/outcome.h"
#include "nemesis/needs.h"
#include "remote/abilities.h"
#include "remote/host_facts.h"

namespace ordeal {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kReachTimeout{10'000};

constexpr std::pair<const char*, bool HostAbilities::*> kAbilities[] = {
    {"root", &HostAbilities::root},           {"packet_filter", &HostAbilities::packet_filter},
    {"own_clock", &HostAbilities::own_clock}, {"faketime", &HostAbilities::faketime},
    {"netem", &HostAbilities::netem},         {"tbf", &HostAbilities::tbf},
    {"own_disk", &HostAbilities::own_disk},   {"tracing", &HostAbilities::tracing}};

struct HostsArguments {
  HostChoice choice;
  bool json = false;
};

struct Found {
  HostFacts facts;
  HostAbilities abilities;
};

struct Checked {
  HostSpec spec;
  Result<Found> found;
};

// Hosts of a lab share this machine, which must not be asked in their place.
Result<Found> look_at(Host& host, bool of_lab) {
  ORDEAL_TRY(host.preflight(kReachTimeout));
  Found found;
  found.abilities = host.abilities();
  ORDEAL_TRY_ASSIGN(found.facts, gather_facts(host));
  if (of_lab) return found;
  ORDEAL_TRY_ASSIGN(found.abilities, probe_abilities(host));
  return found;
}

std::vector<Checked> look_at_all(const Lab& lab) {
  const Cluster cluster = make_cluster(lab);
  const bool of_lab = lab.kind == "netns" || lab.kind == "local";
  std::vector<Checked> all;
  std::map<const Host*, Result<Found>*> places;
  for (const HostSpec& spec : lab.hosts) all.push_back({spec, internal_error("not looked at")});
  const auto hosts = cluster.hosts();
  for (std::size_t i = 0; i < hosts.size(); ++i) places[hosts[i]] = &all[i].found;
  static_cast<void>(cluster.for_each([&](Host& host) -> Status {
    *places.at(&host) = look_at(host, of_lab);
    return {};  // what failed is in its place
  }));
  return all;
}

// ---- as text

std::string told_size(std::int64_t bytes) {
  const double gib = static_cast<double>(bytes) / (1 << 30);
  return gib >= 1 ? fmt::format("{:.1f} GiB", gib)
                  : fmt::format("{:.0f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string told_clock(const ClockOffset& clock) {
  return fmt::format("{:+.3f} s ± {:.3f} s", clock.seconds, clock.uncertainty);
}

std::vector<std::string> row_of(const Checked& host) {
  const HostFacts& facts = host.found->facts;
  const std::string login =
      facts.root == "root" ? facts.login : fmt::format("{} ({})", facts.login, facts.root);
  return {host.spec.name,         facts.system,
          facts.kernel,           login,
          facts.iptables,         told_size(facts.free_bytes),
          told_clock(facts.clock)};
}

// Bytes that continue a character of UTF-8 take no room.
std::size_t columns(const std::string& text) {
  return std::size_t(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - columns(row[i]) + 2, ' ');
    }
    text += line + "\n";
  }
  return text;
}

std::string told_faults(const HostAbilities& abilities) {
  std::string has;
  for (const auto& [name, ability] : kAbilities) {
    has += fmt::format("{}{}: {}", has.empty() ? "" : ", ",
                       boost::replace_all_copy(std::string(name), "_", " "),
                       abilities.*ability ? "yes" : "no");
  }
  std::vector<std::string> possible;
  std::map<std::string, std::vector<std::string>> impossible;  // by what it takes
  for (const FaultEntry& fault : fault_catalog()) {
    const std::string name(fault.name);
    if (need_met(fault.need, abilities)) {
      possible.push_back(name);
    } else {
      impossible[std::string(need_words(fault.need))].push_back(name);
    }
  }
  std::string text = fmt::format("    {}\n    can do:    {}\n", has, boost::join(possible, ", "));
  for (const auto& [needs, names] : impossible) {
    text += fmt::format("    can't do:  {}; it takes {}\n", boost::join(names, ", "), needs);
  }
  return text;
}

std::string text_of(const std::vector<Checked>& all) {
  std::vector<std::vector<std::string>> rows{
      {"host", "system", "kernel", "login", "iptables", "room for data", "clock"}};
  std::map<std::string, std::vector<std::string>> faults;  // hosts by what they can do
  std::string failures;
  for (const Checked& host : all) {
    if (host.found) {
      rows.push_back(row_of(host));
      faults[told_faults(host.found->abilities)].push_back(host.spec.name);
    } else {
      failures +=
          fmt::format("{}: not reachable: {}\n", host.spec.name, host.found.error().message);
    }
  }
  std::string text = rows.size() > 1 ? table(rows) : "";
  for (const auto& [what, hosts] : faults) {
    text += fmt::format("faults on {}\n{}", boost::join(hosts, ", "), what);
  }
  return text + failures;
}

// ---- as JSON

json json_of(const HostAbilities& abilities) {
  json possible = json::array();
  json impossible = json::array();
  for (const FaultEntry& fault : fault_catalog()) {
    if (need_met(fault.need, abilities)) {
      possible.push_back(fault.name);
    } else {
      impossible.push_back({{"name", fault.name}, {"needs", need_words(fault.need)}});
    }
  }
  return {{"possible", possible}, {"impossible", impossible}};
}

json json_of(const Checked& host) {
  json to = {{"name", host.spec.name},
             {"address", host.spec.address},
             {"reachable", host.found.has_value()}};
  if (!host.found) {
    to["error"] = host.found.error().message;
    return to;
  }
  const auto& [facts, abilities] = *host.found;
  to.update({{"system", facts.system},
             {"kernel", facts.kernel},
             {"login", facts.login},
             {"root", facts.root},
             {"iptables", facts.iptables},
             {"free_bytes", facts.free_bytes},
             {"clock_offset_seconds", facts.clock.seconds},
             {"clock_uncertainty_seconds", facts.clock.uncertainty},
             {"faults", json_of(abilities)}});
  for (const auto& [name, has] : kAbilities) to["abilities"][name] = abilities.*has;
  return to;
}

std::string json_text(const std::vector<Checked>& all) {
  json hosts = json::array();
  for (const Checked& host : all) hosts.push_back(json_of(host));
  return json{{"hosts", hosts}}.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

// ---- the command

Result<int> check(const HostsArguments& arguments) {
  const HostChoice& choice = arguments.choice;
  if (choice.lab.empty() + choice.inventory.empty() + choice.hosts.empty() != 2) {
    return bad_input("hosts check: expected one of --inventory, --lab, and names of hosts");
  }
  ORDEAL_TRY_ASSIGN(const Lab lab, chosen_hosts(choice));
  ORDEAL_TRY(enter_control_namespace(lab));
  const std::vector<Checked> all = look_at_all(lab);
  print_result(arguments.json ? json_text(all) : text_of(all));
  const bool good =
      std::all_of(all.begin(), all.end(), [](const Checked& host) { return host.found; });
  return good ? 0 : exit_code(ErrorKind::surroundings);
}

int check_or_complain(const HostsArguments& arguments) {
  const auto code = check(arguments);
  return code ? *code : complain(code.error());
}

}  // namespace

void add_hosts(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<HostsArguments>();
  arguments->choice.option = "host";
  auto* hosts = app.add_subcommand("hosts", "Hosts for campaigns");
  hosts->require_subcommand(1);
  auto* command = hosts->add_subcommand("check", "What hosts are, and which faults they can do");
  command->footer(
      "Examples:\n"
      "  ordeal hosts check --inventory hosts.ini\n"
      "  ordeal hosts check --lab default --json\n"
      "  ordeal hosts check root@db1.example.org db2.example.org:2222\n"
      "Exit code: 0 when all hosts are reachable, 3 otherwise.");
  command->add_option("host", arguments->choice.hosts, "[user@]address[:port]");
  command->add_option("--inventory", arguments->choice.inventory, "All hosts of an inventory");
  command->add_option("--lab", arguments->choice.lab, "All hosts of a lab that is up");
  command->add_flag("--json", arguments->json, "Print one JSON object");
  command->callback(
      [arguments, &action] { action = [arguments] { return check_or_complain(*arguments); }; });
}

}  // namespace ordeal
