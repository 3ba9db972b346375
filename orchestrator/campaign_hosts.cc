#include "orchestrator/campaign_hosts.h"

#include <unistd.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <set>

#include "base/names.h"
#include "orchestrator/lab/vm_backend.h"

namespace ordeal {
namespace {

constexpr std::string_view kLabs[] = {"netns", "vm", "local", ""};
constexpr std::int64_t kDiskMax_mib = 1024 * 1024;
constexpr OptionSpec kSpecs[] = {
    {"lab", OptionType::text, "", "netns, vm or local", 0, 0, kLabs},
    {"names", OptionType::list, "n1", "names of the lab's hosts"},
    {"inventory", OptionType::text, "", "an Ansible inventory, in place of a lab"},
    {"disk", OptionType::integer, "0",
     "MiB for a file system of each host's servers (netns: in memory; vm), which disk faults may "
     "fill; 0: none",
     0, kDiskMax_mib},
    {"backend", OptionType::text, "auto", "what runs the guests of lab vm", 0, 0, kVmBackends},
    {"memory", OptionType::integer, "512", "MiB of memory of each guest of lab vm", 128, 65536},
    {"provision", OptionType::boolean, "false", "prepare the inventory's hosts by Ansible first"},
    {"playbook", OptionType::text, "", "the playbook for that, in place of Ordeal's own"},
    {"task-timeout", OptionType::duration, "10m", "for each task of the playbook", 1'000},
};

// The section with its settings and where they were given.
struct Section {
  const Origin& origin;
  const YAML::Node& node;
  const Options& options;

  std::string place(std::string_view setting) const {
    const std::string where = options.where(setting);
    return where.empty() ? origin.of("hosts", node) : where;
  }
  // Relative to the campaign's file.
  std::filesystem::path file(std::string_view setting) const {
    const std::filesystem::path path = options.text(setting);
    if (path.empty() || path.is_absolute()) return path;
    return std::filesystem::absolute(origin.file()).parent_path() / path;
  }
};

Status check(const Section& section, const Hosts& hosts) {
  if (!hosts.lab.empty() && !hosts.inventory.empty()) {
    return bad_input("{}: hosts: give either `lab` or `inventory`", section.place("inventory"));
  }
  if (hosts.disk_mib != 0 && hosts.lab != "netns" && hosts.lab != "vm") {
    return bad_input("{}: hosts: only hosts of `lab: netns` and `lab: vm` can be given a disk",
                     section.place("disk"));
  }
  if (hosts.provision && hosts.inventory.empty()) {
    return bad_input("{}: hosts: only hosts of an inventory are provisioned",
                     section.place("provision"));
  }
  const std::set<std::string> distinct(hosts.names.begin(), hosts.names.end());
  if (hosts.names.empty() || distinct.size() != hosts.names.size()) {
    return bad_input("{}: hosts: expected names, each once", section.place("names"));
  }
  return {};
}

std::vector<std::string_view> known_names(const Hosts& hosts) {
  std::vector<std::string_view> known(hosts.names.begin(), hosts.names.end());
  for (const auto& [group, members] : hosts.read.groups) known.push_back(group);
  return known;
}

// One host, or those of a group; nothing for an unknown name.
std::vector<std::string> hosts_named(const std::string& name, const Hosts& hosts) {
  if (std::find(hosts.names.begin(), hosts.names.end(), name) != hosts.names.end()) return {name};
  const auto group = hosts.read.groups.find(name);
  return group == hosts.read.groups.end() ? std::vector<std::string>() : group->second;
}

// What a setting that names hosts comes to; the error lacks the place.
Result<std::vector<std::string>> placed(const OptionSpec& spec, const std::string& text,
                                        const Hosts& hosts) {
  std::vector<std::string> names;
  std::vector<std::string> words;
  boost::split(words, text, boost::is_any_of(","));
  for (std::string& word : words) {
    boost::trim(word);
    if (word.empty()) continue;
    const auto found = hosts_named(word, hosts);
    if (found.empty() && hosts.read.groups.contains(word)) {
      return bad_input("group \"{}\" of the inventory has no hosts", word);
    }
    if (found.empty()) return bad_input("{}", unknown_name("host", word, known_names(hosts)));
    if (spec.type == OptionType::host && found.size() > 1) {
      return bad_input("group \"{}\" has {} hosts ({}), and only one is expected", word,
                       found.size(), boost::join(found, ", "));
    }
    names.insert(names.end(), found.begin(), found.end());
  }
  return names;
}

}  // namespace

Result<Hosts> read_hosts(const Origin& origin, const YAML::Node& node) {
  ORDEAL_TRY_ASSIGN(const Options::Given given, flatten(origin, "hosts", node));
  ORDEAL_TRY_ASSIGN(const Options options, Options::make("hosts", kSpecs, given));
  const Section section{origin, node, options};
  Hosts hosts;
  hosts.lab = options.text("lab");
  hosts.names = options.list("names");
  hosts.inventory = section.file("inventory");
  hosts.disk_mib = options.integer("disk");
  hosts.disk_where = section.place("disk");
  hosts.backend = options.text("backend");
  hosts.memory_mib = static_cast<int>(options.integer("memory"));
  hosts.provision = options.boolean("provision");
  hosts.playbook = section.file("playbook");
  hosts.task_timeout = options.duration("task-timeout");
  if (hosts.lab.empty() && hosts.inventory.empty()) hosts.lab = "netns";
  ORDEAL_TRY(check(section, hosts));
  if (hosts.inventory.empty()) return hosts;
  ORDEAL_TRY_ASSIGN(hosts.read, read_inventory(hosts.inventory));
  hosts.names.clear();
  for (const HostSpec& host : hosts.read.lab.hosts) hosts.names.push_back(host.name);
  return hosts;
}

Status check_memory(const Hosts& hosts) {
  const std::int64_t page_kib = sysconf(_SC_PAGE_SIZE) / 1024;
  const std::int64_t memory_mib = sysconf(_SC_PHYS_PAGES) * page_kib / 1024;
  const auto disks = static_cast<std::int64_t>(hosts.names.size());
  if (hosts.lab != "netns" || disks * hosts.disk_mib <= memory_mib) return {};
  return bad_input(
      "{}: hosts: disk is {} MiB: expected {} disks of at most {} MiB, which are in memory, of "
      "which this machine has {} MiB",
      hosts.disk_where, hosts.disk_mib, disks, memory_mib / disks, memory_mib);
}

Status place_hosts(std::string_view kind, std::span<const OptionSpec> specs, const Hosts& hosts,
                   Options::Given& given) {
  for (const OptionSpec& spec : specs) {
    const auto found = given.find(std::string(spec.name));
    if (found == given.end()) continue;
    if (spec.type != OptionType::host && spec.type != OptionType::hosts) continue;
    GivenOption& option = found->second;
    const auto names = placed(spec, option.text, hosts);
    if (!names) {
      return bad_input("{}: {}: {} is \"{}\": {}", option.where, kind, spec.name, option.text,
                       names.error().message);
    }
    option.text = boost::join(*names, ", ");
  }
  return {};
}

std::vector<std::string> unclaimed_groups(const Inventory& inventory,
                                          const std::vector<std::string>& systems) {
  std::vector<std::string> unclaimed;
  for (const auto& [group, members] : inventory.groups) {
    const bool claimed = std::any_of(members.begin(), members.end(), [&](const auto& host) {
      return std::find(systems.begin(), systems.end(), host) != systems.end();
    });
    if (!claimed) unclaimed.push_back(group);
  }
  return unclaimed;
}

}  // namespace ordeal
