#include "orchestrator/faults.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>

#include "base/names.h"
#include "nemesis/needs.h"
#include "nemesis/plan.h"

namespace ordeal {
namespace {

std::vector<std::string_view> leg_names(const Terrain& terrain) {
  std::vector<std::string_view> names;
  for (const Leg& leg : terrain.legs) names.push_back(leg.name);
  return names;
}

bool among(const std::vector<std::string_view>& known, std::string_view name) {
  return std::find(known.begin(), known.end(), name) != known.end();
}

bool has_option(const FaultEntry& entry, std::string_view name) {
  return std::any_of(entry.options.begin(), entry.options.end(),
                     [&](const OptionSpec& spec) { return spec.name == name; });
}

Status check_legs(const FaultChoice& choice, const Terrain& terrain) {
  if (!has_option(*choice.entry, "legs")) return {};
  const auto known = leg_names(terrain);
  for (const std::string& leg : choice.options.list("legs")) {
    if (among(known, leg)) continue;
    return bad_input("{}: fault {}: {}", choice.options.where("legs"), choice.entry->name,
                     unknown_name("leg", leg, known));
  }
  return {};
}

Status check_role(const FaultChoice& choice, const Terrain& terrain) {
  if (!has_option(*choice.entry, "role") || choice.options.text("role").empty()) return {};
  std::vector<std::string_view> known;
  for (const Terrain::Server& server : terrain.servers) {
    if (!among(known, server.role)) known.push_back(server.role);
  }
  if (among(known, choice.options.text("role"))) return {};
  return bad_input("{}: fault {}: {}", choice.options.where("role"), choice.entry->name,
                   unknown_name("role", choice.options.text("role"), known));
}

// A written schedule may name faults that the campaign does not list, but none of these.
Status check_dangerous(std::string_view name, std::string_view where,
                       const std::vector<FaultChoice>& choices) {
  for (const FaultChoice& choice : choices) {
    if (choice.entry->name == name && choice.entry->dangerous &&
        choice.options.boolean("dangerous")) {
      return {};
    }
  }
  for (const FaultEntry& entry : fault_catalog()) {
    if (entry.name != name || !entry.dangerous) continue;
    return bad_input(
        "{}fault {} destroys data for good; if that is wanted, list it among the campaign's "
        "faults, "
        "with `dangerous: true`",
        where, name);
  }
  return {};
}

// Whether a fault can strike at all does not depend on what is drawn.
Status check_strikes(const FaultChoice& choice, const Terrain& terrain) {
  Random random(0);
  const Fault fault = choice.entry->draw(choice.options, terrain, random);
  if (!fault.hosts.empty() || !fault.legs.empty()) return {};
  return bad_input(
      "fault {} finds nothing to strike with these settings: the system has {} server{} and {} "
      "leg{}; remove it from the campaign, change its settings, or add hosts",
      choice.entry->name, terrain.servers.size(), terrain.servers.size() == 1 ? "" : "s",
      terrain.legs.size(), terrain.legs.size() == 1 ? "" : "s");
}

Status check_caps(const Campaign& campaign, const Terrain& terrain) {
  std::vector<std::string_view> known = leg_names(terrain);
  for (const FaultEntry& entry : fault_catalog()) known.push_back(entry.name);
  for (const auto& [name, text] : campaign.schedule.group("outage-max")) {
    if (among(known, name)) continue;
    return bad_input("{}: schedule: outage-max: {}", campaign.schedule.where("outage-max." + name),
                     unknown_name("fault or leg", name, known));
  }
  return {};
}

// A fault that the run may have, and where it is named.
struct Intended {
  Fault fault;
  std::string where;
};

// On all servers that may be drawn.
Fault widest(const FaultChoice& choice, const Terrain& terrain) {
  Random random(0);
  Fault fault = choice.entry->draw(choice.options, terrain, random);
  if (!has_option(*choice.entry, "hosts")) return fault;
  const std::string& role = choice.options.text("role");
  fault.hosts.clear();
  for (const Terrain::Server& server : terrain.servers) {
    if (role.empty() || server.role == role) fault.hosts.push_back(server.host);
  }
  return fault;
}

Result<std::vector<Intended>> intended(const Campaign& campaign, const Terrain& terrain) {
  const std::vector<FaultChoice> choices = fault_choices(campaign);
  std::vector<Intended> all;
  for (const WrittenStep& step : campaign.steps) {
    ORDEAL_TRY_ASSIGN(ScheduledFault scheduled, parse_step(step.text, choices, terrain, Random(0)));
    all.push_back({std::move(scheduled.fault), step.where});
  }
  for (const FaultChoice& choice : choices) {
    all.push_back({widest(choice, terrain), choice.where});
  }
  return all;
}

// The first host that cannot is enough.
Status check_possible(const Intended& intended, const FaultPlan& plan, const Cluster& cluster,
                      const std::stop_token& stop) {
  for (const HostCommands& of_host : plan.possible) {
    Host* host = cluster.find(of_host.host);
    if (host == nullptr) continue;
    for (const Command& command : of_host.commands) {
      ORDEAL_TRY_ASSIGN(const CommandOutput output, host->run(command, kCommandTimeout, stop));
      if (output.exit_status == 0) continue;
      return bad_input("{}: fault {} cannot be done on host {}: {}", intended.where,
                       intended.fault.name, host->name(),
                       boost::trim_copy(output.standard_output + output.standard_error));
    }
  }
  return {};
}

}  // namespace

Terrain terrain_of(const Target& target) {
  Terrain terrain;
  for (const std::string& host : target.hosts()) {
    terrain.servers.push_back({host, target.role(host)});
  }
  terrain.legs = target.legs();
  return terrain;
}

std::vector<FaultChoice> fault_choices(const Campaign& campaign) {
  std::vector<FaultChoice> choices;
  for (const auto& fault : campaign.faults)
    choices.push_back({fault.entry, fault.options, fault.where});
  return choices;
}

Status check_faults(const Campaign& campaign, const Terrain& terrain) {
  const std::vector<FaultChoice> choices = fault_choices(campaign);
  for (const FaultChoice& choice : choices) {
    ORDEAL_TRY(check_dangerous(choice.entry->name, "", choices));
    ORDEAL_TRY(check_legs(choice, terrain));
    ORDEAL_TRY(check_role(choice, terrain));
    ORDEAL_TRY(check_strikes(choice, terrain));
  }
  ORDEAL_TRY(check_caps(campaign, terrain));
  return schedule_of(campaign, 0, terrain).map([](const auto&) {});
}

std::vector<FaultInUse> faults_in_use(const Campaign& campaign) {
  std::vector<FaultInUse> used;
  for (const auto& fault : campaign.faults) used.push_back({fault.entry, fault.where});
  for (const WrittenStep& step : campaign.steps) {
    // A step names its fault first.
    const FaultEntry* entry = find_fault(step.text.what.substr(0, step.text.what.find(' ')));
    const bool known = std::any_of(used.begin(), used.end(),
                                   [&](const FaultInUse& each) { return each.entry == entry; });
    if (entry != nullptr && !known) used.push_back({entry, step.where});
  }
  return used;
}

Status check_needs(const Campaign& campaign, const Cluster& cluster) {
  for (const FaultInUse& used : faults_in_use(campaign)) {
    for (const Host* host : cluster.hosts()) {
      if (const Status met = check_need(*used.entry, *host); !met) {
        return bad_input("{}: {}", used.where, met.error().message);
      }
    }
  }
  return {};
}

Status check_plans(const Campaign& campaign, const Battlefield& battlefield, const Cluster& cluster,
                   std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(const std::vector<Intended> all, intended(campaign, battlefield.terrain));
  for (const Intended& each : all) {
    const auto plan = plan_fault(each.fault, battlefield);
    if (!plan) return bad_input("{}: {}", each.where, plan.error().message);
    ORDEAL_TRY(check_possible(each, *plan, cluster, stop));
  }
  return {};
}

Result<std::vector<ScheduledFault>> schedule_of(const Campaign& campaign, std::uint64_t seed,
                                                const Terrain& terrain) {
  const Random random = Random(seed).derive("schedule");
  const std::vector<FaultChoice> choices = fault_choices(campaign);
  if (campaign.steps.empty()) {
    ScheduleOptions options = schedule_options(campaign.schedule).value();
    options.intensity = intensity(campaign.settings.text("complexity"));
    return make_schedule(options, choices, terrain, campaign.settings.duration("duration"), random);
  }
  std::vector<ScheduledFault> schedule;
  for (const WrittenStep& step : campaign.steps) {
    auto parsed = parse_step(step.text, choices, terrain,
                             random.derive(fmt::format("step {}", schedule.size())));
    if (!parsed) return bad_input("{}: {}", step.where, parsed.error().message);
    ORDEAL_TRY(check_dangerous(parsed->fault.name, step.where + ": ", choices));
    if (parsed->start >= campaign.settings.duration("duration")) {
      return bad_input("{}: {}: chaos ends at {}", step.where, step.text.when,
                       format_duration(campaign.settings.duration("duration")));
    }
    schedule.push_back(std::move(*parsed));
  }
  std::stable_sort(schedule.begin(), schedule.end(),
                   [](const auto& a, const auto& b) { return a.start < b.start; });
  return schedule;
}

PlannedFaults planned_faults(const Campaign& campaign, const Terrain& terrain,
                             const std::vector<ScheduledFault>& schedule) {
  PlannedFaults planned;
  const auto add = [](std::vector<std::string>& names, std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const ScheduledFault& each : schedule) {
    add(planned.faults, each.fault.name);
    for (const std::string& leg : each.fault.legs) add(planned.legs, leg);
  }
  if (!campaign.steps.empty()) return planned;
  for (const auto& fault : campaign.faults) add(planned.faults, fault.entry->name);
  for (const auto& leg : legs_in_reach(fault_choices(campaign), terrain)) add(planned.legs, leg);
  return planned;
}

std::string schedule_yaml(const std::vector<ScheduledFault>& schedule) {
  YAML::Emitter yaml;
  yaml << YAML::BeginMap << YAML::Key << "steps" << YAML::Value << YAML::BeginSeq;
  for (const ScheduledFault& each : schedule) {
    const StepText text = describe(each);
    yaml << YAML::BeginMap << YAML::Key << text.when << YAML::Value << text.what << YAML::EndMap;
  }
  yaml << YAML::EndSeq << YAML::EndMap;
  return std::string(yaml.c_str()) + "\n";
}

}  // namespace ordeal
