#include "orchestrator/faults.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <boost/algorithm/string/trim.hpp>

#include "base/names.h"
#include "nemesis/needs.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

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
    if (has_role(server, choice.options.text("role"))) return {};
    if (!among(known, server.role)) known.push_back(server.role);
  }
  return bad_input("{}: fault {}: {}", choice.options.where("role"), choice.entry->name,
                   unknown_name("role", choice.options.text("role"), known));
}

// A written schedule may name faults that the campaign does not list, but none of these.
Status check_dangerous(std::string_view name, std::string_view where,
                       const std::vector<FaultChoice>& choices) {
  const FaultEntry* entry = find_fault(name);
  if (entry == nullptr || !entry->dangerous) return {};
  for (const FaultChoice& choice : choices) {
    if (choice.entry == entry && choice.options.boolean("dangerous")) return {};
  }
  return bad_input(
      "{}: fault {} destroys data for good; if that is wanted, list it among the campaign's "
      "faults, with `dangerous: true`",
      where, name);
}

// Faults of the proxy reach no leg that the campaign keeps from it.
std::string direct_legs(const FaultEntry& entry, const Campaign& campaign) {
  std::string text;
  if (entry.need != FaultNeed::proxy) return text;
  for (const auto& [leg, choice] : campaign.legs) {
    if (choice.way == "direct") text += fmt::format(", and {} is direct ({})", leg, choice.where);
  }
  return text;
}

bool strikes_leg(const FaultChoice& choice, const std::string& leg, const Terrain& terrain) {
  if (choice.entry->strikes != Strikes::legs) return false;
  const auto reached = legs_in_reach(std::vector{choice}, terrain);
  return std::find(reached.begin(), reached.end(), leg) != reached.end();
}

// Whether a fault can strike at all does not depend on what is drawn.
Status check_strikes(const FaultChoice& choice, const Campaign& campaign, const Terrain& terrain) {
  Random random(0);
  const Fault fault = choice.entry->draw(choice.options, terrain, random);
  if (!fault.hosts.empty() || !fault.legs.empty()) return {};
  return bad_input(
      "{}: fault {} finds nothing to strike with these settings: the system has {} server{} and {} "
      "leg{}{}; remove it from the campaign, change its settings, or add hosts",
      choice.where, choice.entry->name, terrain.servers.size(),
      terrain.servers.size() == 1 ? "" : "s", terrain.legs.size(),
      terrain.legs.size() == 1 ? "" : "s", direct_legs(*choice.entry, campaign));
}

// The cap of that name leaves time for the fault.
Status check_cap(const std::string& name, milliseconds cap, const std::string& where,
                 const FaultEntry& entry) {
  const milliseconds least = entry.typical.to_see + entry.typical.to_heal + milliseconds(1);
  if (cap >= least) return {};
  return bad_input(
      "{}: schedule: outage-max: {} is {}, but fault {} takes about {} to be seen and {} to be "
      "healed; expected at least {}",
      where, name, format_duration(cap), entry.name, format_duration(entry.typical.to_see),
      format_duration(entry.typical.to_heal), format_duration(least));
}

Status check_caps(const Campaign& campaign, const Terrain& terrain) {
  std::vector<std::string_view> known = leg_names(terrain);
  for (const FaultEntry& entry : fault_catalog()) known.push_back(entry.name);
  for (const auto& [name, text] : campaign.schedule.group("outage-max")) {
    const std::string where = campaign.schedule.where("outage-max." + name);
    if (!among(known, name)) {
      return bad_input("{}: schedule: outage-max: {}", where,
                       unknown_name("fault or leg", name, known));
    }
    for (const FaultChoice& choice : fault_choices(campaign)) {
      if (choice.entry->name != name && !strikes_leg(choice, name, terrain)) continue;
      ORDEAL_TRY(check_cap(name, parse_duration(text).value(), where, *choice.entry));
    }
  }
  return {};
}

// No fault is held for longer than chaos lasts.
Status check_durations(const Campaign& campaign) {
  const milliseconds chaos = campaign.settings.duration("duration");
  if (campaign.faults.empty() || !campaign.steps.empty()) return {};
  for (const char* name : {"duration-min", "recovery"}) {
    const std::string where = campaign.schedule.where(name);
    if (where.empty() || campaign.schedule.duration(name) <= chaos) continue;
    return bad_input("{}: schedule: {} is {}, but chaos lasts {} (`duration`)", where, name,
                     format_duration(campaign.schedule.duration(name)), format_duration(chaos));
  }
  return {};
}

Status check_step(const ScheduledFault& step, const WrittenStep& written,
                  const Campaign& campaign) {
  const milliseconds chaos = campaign.settings.duration("duration");
  const bool is_said = written.text.when.find(" for ") != std::string::npos;
  if (step.start >= chaos || (is_said && step.start + step.duration > chaos)) {
    return bad_input("{}: {}: chaos ends at {}", written.where, written.text.when,
                     format_duration(chaos));
  }
  return {};
}

// `before` are the steps that begin earlier.
Status check_step_cap(const ScheduledFault& step, const WrittenStep& written,
                      const OutageCaps& caps, std::span<const ScheduledFault> before) {
  const auto outage = capped_outage(caps, before, step);
  const milliseconds healed = planned_times(step).healed;
  if (!outage || healed <= outage->begin + outage->cap) return {};
  const std::string joined = outage->begin == step.start
                                 ? ""
                                 : fmt::format(", with what overlaps it on that leg from {} on,",
                                               format_duration(outage->begin));
  return bad_input(
      "{}: {}: until fault {} is healed{} it takes about {}, which is longer than the outage-max "
      "of {} ({}) allows",
      written.where, written.text.when, step.fault.name, joined,
      format_duration(healed - outage->begin), outage->name, format_duration(outage->cap));
}

Result<ScheduledFault> read_step(const WrittenStep& written, const Campaign& campaign,
                                 const Terrain& terrain, const Random& random) {
  const std::vector<FaultChoice> choices = fault_choices(campaign);
  auto step = parse_step(written.text, choices, terrain, random);
  if (!step) return bad_input("{}: {}", written.where, step.error().message);
  ORDEAL_TRY(check_dangerous(step->fault.name, written.where, choices));
  ORDEAL_TRY(check_step(*step, written, campaign));
  return step;
}

// In order of start.
Result<std::vector<ScheduledFault>> written_schedule(const Campaign& campaign,
                                                     const Terrain& terrain, const Random& random) {
  const OutageCaps caps = schedule_options(campaign.schedule).value().outage_max;
  std::vector<std::pair<ScheduledFault, const WrittenStep*>> steps;
  for (const WrittenStep& written : campaign.steps) {
    ORDEAL_TRY_ASSIGN(
        ScheduledFault step,
        read_step(written, campaign, terrain, random.derive(fmt::format("step {}", steps.size()))));
    steps.emplace_back(std::move(step), &written);
  }
  std::stable_sort(steps.begin(), steps.end(),
                   [](const auto& a, const auto& b) { return a.first.start < b.first.start; });
  std::vector<ScheduledFault> schedule;
  for (auto& [step, written] : steps) {
    ORDEAL_TRY(check_step_cap(step, *written, caps, schedule));
    schedule.push_back(std::move(step));
  }
  return schedule;
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
    if (has_role(server, role)) fault.hosts.push_back(server.host);
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
    ORDEAL_TRY(check_dangerous(choice.entry->name, choice.where, choices));
    ORDEAL_TRY(check_legs(choice, terrain));
    ORDEAL_TRY(check_role(choice, terrain));
    ORDEAL_TRY(check_strikes(choice, campaign, terrain));
  }
  ORDEAL_TRY(check_caps(campaign, terrain));
  ORDEAL_TRY(check_durations(campaign));
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
  if (!campaign.steps.empty()) return written_schedule(campaign, terrain, random);
  ScheduleOptions options = schedule_options(campaign.schedule).value();
  options.intensity = intensity(campaign.settings.text("complexity"));
  return make_schedule(options, fault_choices(campaign), terrain,
                       campaign.settings.duration("duration"), random);
}

Planned planned_faults(const Campaign& campaign, const Terrain& terrain,
                       const std::vector<ScheduledFault>& schedule) {
  Planned planned;
  planned.turns.emplace();
  const auto add = [](std::vector<std::string>& names, std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  };
  for (const ScheduledFault& each : schedule) {
    add(planned.faults, each.fault.name);
    planned.turns->emplace(each.fault.name, each.start);
    for (const std::string& leg : each.fault.legs) {
      add(planned.legs, leg);
      planned.turns->emplace(leg, each.start);
    }
  }
  for (const auto& fault : campaign.faults) {
    if (has_option(*fault.entry, "direction") && fault.options.text("direction") == "both") {
      add(planned.both, fault.entry->name);
    }
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
