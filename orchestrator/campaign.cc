#include "orchestrator/campaign.h"

#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "nemesis/schedule.h"
#include "orchestrator/campaign_choice.h"
#include "orchestrator/campaign_systems.h"
#include "orchestrator/campaign_yaml.h"

namespace ordeal {
namespace {

constexpr std::string_view kComplexities[] = {"low", "medium", "high"};

constexpr OptionSpec kSettings[] = {
    {"duration", OptionType::duration, "60s", "length of the chaos phase", 1},
    {"workers", OptionType::integer, "10", "logical processes at a time", 1, 10'000},
    {"rate", OptionType::real, "0",
     "operations per second of all workers together; 0 is full speed"},
    {"lead", OptionType::integer, "64",
     "operations that a worker may be ahead of the slowest one, so that they meet on the same keys",
     1},
    {"step-timeout", OptionType::duration, "60s", "for each step of set-up on each host", 1},
    {"stall-after", OptionType::duration, "15s",
     "who waits longer than this in an operation is named in the log, as often", 1},
    {"complexity", OptionType::text, "medium", "low: faults half as often; high: twice as often", 0,
     0, kComplexities},
    {"heal-attempts", OptionType::integer, "5", "tries to undo each fault at the end", 1, 1000},
};

// Everything below reports through Result; `origin` names the places in messages.
struct Loader {
  const Origin& origin;
  const Catalogs& catalogs;

  Status default_check(Campaign& campaign) const {
    if (!campaign.checks.empty()) return {};
    ORDEAL_TRY_ASSIGN(
        const CheckerEntry* entry,
        find_entry("check", origin.file(), std::string(campaign.workload.entry->checkers.front()),
                   catalogs.checkers));
    ORDEAL_TRY_ASSIGN(Options options, Options::make("check", entry->options, {}));
    campaign.checks.push_back({entry, std::move(options), origin.file()});
    return {};
  }

  Status fits(const Campaign& campaign, const YAML::Node& root) const {
    const WorkloadEntry& workload = *campaign.workload.entry;
    for (const auto& check : campaign.checks) {
      const auto& known = workload.checkers;
      if (std::find(known.begin(), known.end(), check.entry->name) != known.end()) continue;
      const std::string name(check.entry->name);
      return bad_input("{}: checker {} cannot judge workload {}; those that can: {}",
                       origin.of_all("check." + name, root["check"]), name, workload.name,
                       fmt::join(known, ", "));
    }
    return {};
  }

  Result<Campaign> load(const YAML::Node& root) const {
    Campaign campaign;
    campaign.name =
        root["name"] ? root["name"].Scalar() : std::filesystem::path(origin.file()).stem().string();
    if (!valid_name(campaign.name)) {
      return bad_input("{}: name \"{}\": expected lower-case letters, digits and hyphens",
                       origin.of("name", root["name"]), campaign.name);
    }
    ORDEAL_TRY_ASSIGN(campaign.hosts, read_hosts(origin, root["hosts"]));
    ORDEAL_TRY_ASSIGN(campaign.systems,
                      read_systems(origin, root, campaign.hosts, catalogs.targets));
    ORDEAL_TRY_ASSIGN(campaign.workload,
                      choose_one_entry(origin, "workload", root["workload"], catalogs.workloads));
    ORDEAL_TRY_ASSIGN(campaign.clients, read_clients(origin, root["clients"], campaign.systems,
                                                     *campaign.workload.entry));
    ORDEAL_TRY_ASSIGN(campaign.faults, faults(root));
    ORDEAL_TRY_ASSIGN(campaign.checks,
                      choose_entries(origin, "check", "check", root["check"], catalogs.checkers));
    ORDEAL_TRY(default_check(campaign));
    ORDEAL_TRY(fits(campaign, root));
    if (const auto made = campaign.workload.entry->make(campaign.workload.options); !made) {
      const std::string name(campaign.workload.entry->name);
      return bad_input("{}: workload {}: {}", origin.of_all("workload." + name, root["workload"]),
                       name, made.error().message);
    }
    ORDEAL_TRY_ASSIGN(campaign.legs, legs(root["legs"]));
    ORDEAL_TRY_ASSIGN(campaign.steps, steps(origin, root["schedule"]));
    ORDEAL_TRY_ASSIGN(const Options::Given schedule,
                      flatten(origin, "schedule", root["schedule"], "steps"));
    ORDEAL_TRY_ASSIGN(campaign.schedule,
                      Options::make("schedule", schedule_option_specs(), schedule));
    if (const auto read = schedule_options(campaign.schedule); !read) {
      return bad_input("{}: {}", origin.of_all("schedule", root["schedule"]), read.error().message);
    }
    ORDEAL_TRY_ASSIGN(campaign.settings, settings(root));
    // The copy in the run's folder must find them, too.
    YAML::Node resolved = YAML::Clone(root);
    if (!campaign.hosts.inventory.empty()) {
      resolved["hosts"]["inventory"] = campaign.hosts.inventory.string();
    }
    if (!campaign.hosts.playbook.empty()) {
      resolved["hosts"]["playbook"] = campaign.hosts.playbook.string();
    }
    campaign.resolved = dump(resolved);
    return campaign;
  }

  Result<std::vector<Chosen<FaultEntry>>> faults(const YAML::Node& root) const {
    return choose_entries(origin, "fault", "faults", root["faults"], catalogs.faults);
  }

  // {client-db: proxy}
  Result<std::map<std::string, LegChoice>> legs(const YAML::Node& section) const {
    std::map<std::string, LegChoice> legs;
    ORDEAL_TRY_ASSIGN(const Options::Given given, flatten(origin, "legs", section));
    for (const auto& [name, choice] : given) {
      if (choice.text != "proxy" && choice.text != "direct") {
        return bad_input("{}: legs: {} is \"{}\": expected proxy or direct", choice.where, name,
                         choice.text);
      }
      legs[name] = {choice.text, choice.where};
    }
    return legs;
  }

  static std::string step_path(std::size_t number) {
    return fmt::format("schedule.steps.{}", number);
  }

  // [{"at 12s for 4s": "kill n1"}, ...]
  static Result<std::vector<WrittenStep>> steps(const Origin& origin, const YAML::Node& section) {
    std::vector<WrittenStep> steps;
    if (!section || !section.IsMap() || !section["steps"]) return steps;
    const YAML::Node list = section["steps"];
    if (!list.IsSequence()) {
      return bad_input("{}: schedule.steps: expected a list of steps such as `- at 12s: kill n1`",
                       origin.of("schedule.steps", list));
    }
    for (const YAML::Node& step : list) {
      const std::string where = origin.of(step_path(steps.size()), step);
      if (step.IsScalar()) {
        return bad_input(
            "{}: expected a step such as `at 12s for 4s: kill n1`, found the text \"{}\"; quotes "
            "belong "
            "around the fault alone, as in `[at 12s: \"kill n1,n2\"]`",
            where, step.Scalar());
      }
      if (!step.IsMap() || step.size() != 1 || !step.begin()->second.IsScalar()) {
        return bad_input("{}: expected a step such as `at 12s for 4s: kill n1`", where);
      }
      steps.push_back({{step.begin()->first.Scalar(), step.begin()->second.Scalar()}, where});
    }
    return steps;
  }

  // What the command line may replace is validated all the same: a mistake should not wait for the
  // first run without --no-disruptions or --duration.
  Status check_replaced(const YAML::Node& root) const {
    ORDEAL_TRY(faults(root));
    ORDEAL_TRY(settings(root));
    return {};
  }

  Result<Options> settings(const YAML::Node& root) const {
    Options::Given given;
    for (const auto& item : root) {
      const auto key = item.first.as<std::string>();
      if (std::find(std::begin(kSections), std::end(kSections), key) != std::end(kSections))
        continue;
      const std::string where = origin.of(key, item.first);
      const auto setting = names_of(kSettings);
      if (!item.second.IsScalar() &&
          std::find(setting.begin(), setting.end(), key) != setting.end()) {
        return bad_input("{}: {}: expected a single value", where, key);
      }
      if (!item.second.IsScalar()) {
        auto known = names_of(kSettings);
        known.insert(known.end(), std::begin(kSections), std::end(kSections));
        return bad_input("{}: {}", where, unknown_name("section", key, known));
      }
      given[key] = {item.second.Scalar(), where};
    }
    // Misspelt sections are told apart from misspelt settings only by their shape, so both are
    // offered.
    for (const auto& [key, value] : given) {
      if (const auto known = all_names();
          std::find(known.begin(), known.end(), key) == known.end()) {
        return bad_input("{}: {}", value.where, unknown_name("setting", key, known));
      }
    }
    return Options::make("campaign", kSettings, given);
  }

  static std::vector<std::string_view> all_names() {
    auto names = names_of(kSettings);
    names.insert(names.end(), std::begin(kSections), std::end(kSections));
    return names;
  }

  static constexpr std::string_view kSections[] = {
      "name",    "description", "hosts", "target",   "systems", "workload",
      "clients", "faults",      "legs",  "schedule", "check",   "scenarios"};
};

Status replace_schedule(Origin& origin, YAML::Node& root, const std::filesystem::path& file) {
  if (file.empty()) return {};
  ORDEAL_TRY_ASSIGN(const YAML::Node written,
                    parse_yaml(file, {"a written schedule, such as a run's schedule.yaml (see "
                                      "docs/schedules.md)",
                                      "`steps:`"}));
  const Origin own(file);
  ORDEAL_TRY_ASSIGN(const auto steps, Loader::steps(own, written));
  if (steps.empty()) {
    return bad_input("{}: expected `steps:`, a list such as `- at 12s for 4s: kill n1`",
                     file.string());
  }
  if (root["schedule"] && !root["schedule"].IsMap()) {
    return bad_input("{}: schedule: expected a map", origin.of("schedule", root["schedule"]));
  }
  root["schedule"]["steps"] = written["steps"];
  origin.replaced("schedule.steps", file.string());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    origin.replaced(Loader::step_path(i), steps[i].where);
  }
  return {};
}

}  // namespace

std::span<const OptionSpec> campaign_settings() { return kSettings; }

Result<Campaign> load_campaign(const std::filesystem::path& file, const CampaignChanges& changes,
                               const Catalogs& catalogs) {
  ORDEAL_TRY_ASSIGN(YAML::Node root, parse_yaml(file, {"a campaign file (see campaigns/)",
                                                       "target, workload, ..."}));
  Origin origin(file);
  ORDEAL_TRY(merge_scenario(origin, root, changes.scenario));
  for (const auto& assignment : changes.assignments) ORDEAL_TRY(assign(origin, root, assignment));
  const auto set = [&](const char* key, const std::optional<std::string>& value) {
    if (!value) return;
    root[key] = *value;
    origin.replaced(key, fmt::format("--{} {}", key, *value));
  };
  try {
    const Loader loader{origin, catalogs};
    ORDEAL_TRY(loader.check_replaced(root));
    set("duration", changes.duration);
    set("complexity", changes.complexity);
    ORDEAL_TRY(replace_schedule(origin, root, changes.schedule));
    if (changes.no_disruptions) root["faults"] = YAML::Node(YAML::NodeType::Map);
    auto campaign = loader.load(root);
    if (campaign && changes.no_disruptions) campaign->steps.clear();
    return campaign;
  } catch (const YAML::Exception& error) {  // e.g. a map where a name was expected
    return bad_input("{}:{}:{}: {}", file.string(), error.mark.line + 1, error.mark.column + 1,
                     error.msg);
  }
}

}  // namespace ordeal
