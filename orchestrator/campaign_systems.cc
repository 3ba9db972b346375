#include "orchestrator/campaign_systems.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "orchestrator/campaign_choice.h"

namespace ordeal {
namespace {

constexpr OptionSpec kSystemSettings[] = {
    {.name = "hosts",
     .type = OptionType::hosts,
     .default_value = "",
     .summary = "that the system has for itself; of an inventory, the group of the system's name"},
    {.name = "after",
     .type = OptionType::list,
     .default_value = "",
     .summary = "systems that must be ready before this one starts"},
    {.name = "upstream",
     .default_value = "",
     .summary = "the system that it takes its data from, or is coordinated by"},
};

constexpr OptionSpec kClientSettings[] = {
    {.name = "system", .default_value = "", .summary = "that clients talk to; empty: the first"},
    {.name = "reads",
     .default_value = "",
     .summary = "the system that transactions go to that only read; empty: the same"},
};

bool is_setting(const std::string& key) {
  const auto known = names_of(kSystemSettings);
  return std::find(known.begin(), known.end(), key) != known.end();
}

// One item of the section: {postgres: {...}, hosts: [...], after: [...], upstream: ...}.
class SystemReader {
 public:
  SystemReader(const Origin& origin, const Hosts& hosts, std::span<const TargetEntry> targets)
      : origin_(origin), hosts_(hosts), targets_(targets) {}

  Result<System> read(const YAML::Node& key, const YAML::Node& body) {
    System system;
    system.name = key.Scalar();
    path_ = "systems." + system.name;
    where_ = origin_.of(path_, key);
    if (!valid_name(system.name)) {
      return bad_input("{}: system \"{}\": expected lower-case letters, digits and hyphens", where_,
                       system.name);
    }
    if (!body.IsMap()) return wanted(system);
    ORDEAL_TRY_ASSIGN(const Options options, settings(system, body));
    ORDEAL_TRY_ASSIGN(system.hosts, place(system, options));
    system.after = options.list("after");
    system.upstream = options.text("upstream");
    ORDEAL_TRY_ASSIGN(system.target, target(system, body));
    return system;
  }

 private:
  tl::unexpected<Error> wanted(const System& system) const {
    return bad_input(
        "{}: system {}: expected a target and hosts, e.g. `{}: {{postgres: {{}}, hosts: [n1]}}`",
        where_, system.name, system.name);
  }

  Result<Options> settings(const System& system, const YAML::Node& body) const {
    ORDEAL_TRY_ASSIGN(Options::Given given, flatten(origin_, path_, body));
    std::erase_if(given, [](const auto& option) {
      return !is_setting(option.first.substr(0, option.first.find('.')));
    });
    const std::string owner = "system " + system.name;
    ORDEAL_TRY(place_hosts(owner, kSystemSettings, hosts_, given));
    return Options::make(owner, kSystemSettings, given);
  }

  // Hosts that the campaign names, or the group that is called as the system.
  Result<std::vector<std::string>> place(const System& system, const Options& options) {
    std::vector<std::string> names = options.list("hosts");
    const auto group = hosts_.read.groups.find(system.name);
    if (names.empty() && group != hosts_.read.groups.end()) names = group->second;
    if (names.empty()) return wanted(system);
    for (const std::string& name : names) {
      const auto [owner, is_free] = owners_.emplace(name, system.name);
      if (is_free) continue;
      return bad_input("{}: system {}: host {} {}; expected hosts that no other system has", where_,
                       system.name, name,
                       owner->second == system.name ? "is named twice" : "is of " + owner->second);
    }
    return names;
  }

  Result<Chosen<TargetEntry>> target(const System& system, const YAML::Node& body) const {
    Hosts own = hosts_;
    own.names = system.hosts;
    std::optional<Chosen<TargetEntry>> chosen;
    for (const auto& item : body) {
      const std::string& name = item.first.Scalar();
      if (is_setting(name)) continue;
      if (chosen) {
        return bad_input("{}: system {}: expected one target, not {} and {}",
                         origin_.of(path_ + "." + name, item.first), system.name,
                         chosen->entry->name, name);
      }
      ORDEAL_TRY_ASSIGN(chosen, choose_entry(origin_, "target", path_ + "." + name, item.first,
                                             item.second, targets_, own));
    }
    if (!chosen) return wanted(system);
    return *std::move(chosen);
  }

  const Origin& origin_;
  const Hosts& hosts_;
  std::span<const TargetEntry> targets_;
  std::string path_;                           // of the system that is being read
  std::string where_;                          // it stands
  std::map<std::string, std::string> owners_;  // host -> system
};

std::vector<std::string> needs_of(const System& system) {
  std::vector<std::string> needs = system.after;
  if (!system.upstream.empty()) needs.push_back(system.upstream);
  return needs;
}

const System* find_system(const std::vector<System>& systems, const std::string& name) {
  const auto found = std::find_if(systems.begin(), systems.end(),
                                  [&](const System& system) { return system.name == name; });
  return found == systems.end() ? nullptr : &*found;
}

Status check_relations(const System& system, const std::vector<System>& systems) {
  const std::string& where = system.target.where;
  for (const std::string& name : needs_of(system)) {
    if (find_system(systems, name) != nullptr) continue;
    return bad_input("{}: system {}: {}", where, system.name,
                     unknown_name("system", name, names_of(systems)));
  }
  const TargetEntry& entry = *system.target.entry;
  if (system.upstream.empty()) return {};
  const auto upstream = find_system(systems, system.upstream)->target.entry->name;
  const auto& known = entry.upstreams;
  if (std::find(known.begin(), known.end(), upstream) != known.end()) return {};
  return bad_input("{}: system {}: target {} cannot be downstream of {} ({}); it can of {}", where,
                   system.name, entry.name, system.upstream, upstream,
                   known.empty() ? "none" : fmt::format("{}", fmt::join(known, ", ")));
}

// Kahn's algorithm; systems that need nothing more keep the order of the file.
Result<std::vector<System>> in_order(std::vector<System> systems) {
  std::vector<System> ordered;
  while (!systems.empty()) {
    const auto next = std::find_if(systems.begin(), systems.end(), [&](const System& system) {
      const auto needs = needs_of(system);
      return std::all_of(needs.begin(), needs.end(), [&](const std::string& name) {
        return find_system(ordered, name) != nullptr;
      });
    });
    if (next == systems.end()) {
      return bad_input("{}: systems {} wait for each other by `after` or `upstream`",
                       systems.front().target.where, fmt::join(names_of(systems), ", "));
    }
    ordered.push_back(std::move(*next));
    systems.erase(next);
  }
  return ordered;
}

Status knows(const System& system, const WorkloadEntry& workload, const std::string& where) {
  const auto& known = system.target.entry->workloads;
  if (std::find(known.begin(), known.end(), workload.name) != known.end()) return {};
  return bad_input("{}: target {} has no client for workload {}", where, system.target.entry->name,
                   workload.name);
}

}  // namespace

Result<std::vector<System>> read_systems(const Origin& origin, const YAML::Node& root,
                                         const Hosts& hosts, std::span<const TargetEntry> targets) {
  std::vector<System> systems;
  const YAML::Node section = root["systems"];
  if (!section) {
    systems.emplace_back();
    ORDEAL_TRY_ASSIGN(systems.back().target,
                      choose_one_entry(origin, "target", root["target"], targets, hosts));
    systems.back().hosts = hosts.names;
    return systems;
  }
  if (root["target"]) {
    return bad_input("{}: give either `target` or `systems`", origin.of("systems", section));
  }
  if (!section.IsMap() || section.size() == 0) {
    return bad_input(
        "{}: systems: expected a map from names to systems, e.g. `db: {{postgres: "
        "{{}}, hosts: [n1]}}`",
        origin.of("systems", section));
  }
  SystemReader reader(origin, hosts, targets);
  for (const auto& item : section) {
    ORDEAL_TRY_ASSIGN(System system, reader.read(item.first, item.second));
    systems.push_back(std::move(system));
  }
  for (const System& system : systems) ORDEAL_TRY(check_relations(system, systems));
  return in_order(std::move(systems));
}

Result<Clients> read_clients(const Origin& origin, const YAML::Node& section,
                             const std::vector<System>& systems, const WorkloadEntry& workload) {
  ORDEAL_TRY_ASSIGN(const Options::Given given, flatten(origin, "clients", section));
  ORDEAL_TRY_ASSIGN(const Options options, Options::make("clients", kClientSettings, given));
  Clients clients{options.text("system"), options.text("reads")};
  for (const std::string_view setting : {"system", "reads"}) {
    const std::string& name = options.text(setting);
    if (name.empty()) continue;
    const System* system = find_system(systems, name);
    if (system == nullptr) {
      return bad_input("{}: clients: {}: {}", options.where(setting), setting,
                       unknown_name("system", name, names_of(systems)));
    }
    ORDEAL_TRY(knows(*system, workload, options.where(setting)));
  }
  if (!clients.system.empty()) return clients;
  clients.system = systems.front().name;
  ORDEAL_TRY(knows(systems.front(), workload, origin.file()));
  return clients;
}

}  // namespace ordeal
