// A campaign: the file that says which system is tested on which hosts, by which workload, under
// which faults, judged by which checkers. Loading validates everything against the catalogues; each
// message names file, line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "checkers/checker.h"
#include "nemesis/nemesis.h"
#include "nemesis/schedule.h"
#include "orchestrator/campaign_hosts.h"
#include "targets/target.h"
#include "workloads/workload.h"

namespace ordeal {

// An entry of a catalogue with its validated options.
template <class Entry>
struct Chosen {
  const Entry* entry = nullptr;
  Options options;
  std::string where{};  // it was chosen: "campaign.yaml:7:3", or an argument
};

// A step of a written schedule, not yet read: the terrain is known only once there are hosts.
struct WrittenStep {
  StepText text;
  std::string where;
};

struct LegChoice {
  std::string way;  // "proxy" or "direct"
  std::string where;
};

// One of the systems under test.
struct System {
  std::string name;  // [a-z0-9-]+; "" of the only one, that a campaign calls its target
  Chosen<TargetEntry> target;
  std::vector<std::string> hosts;  // its own
  std::vector<std::string> after;  // systems that are ready before this one starts
  std::string upstream;            // the system that it depends on; "": none
};

// The systems that the workload's clients talk to.
struct Clients {
  std::string system;
  std::string reads;  // of what only reads; "": the same
};

struct Campaign {
  std::string name;  // [a-z0-9-]+
  Hosts hosts;
  std::vector<System> systems;  // at least one; each after those that it needs
  Clients clients;
  Chosen<WorkloadEntry> workload;
  std::vector<Chosen<FaultEntry>> faults;
  std::vector<Chosen<CheckerEntry>> checks;
  std::map<std::string, LegChoice> legs;  // of those that are not there: as faults need it
  Options schedule;
  std::vector<WrittenStep> steps;  // of a written schedule; empty: it is drawn
  Options settings;                // of the run: see campaign_settings()
  std::string resolved;            // the campaign with everything merged in, as YAML
};

// What the command line may change.
struct CampaignChanges {
  std::string scenario;                  // a name under `scenarios:`, merged over the rest
  std::vector<std::string> assignments;  // "workload.list-append.isolation=read-committed"
  std::optional<std::string> duration;
  std::optional<std::string> complexity;  // low: faults half as often; high: twice as often
  bool no_disruptions = false;
  std::filesystem::path schedule;  // a file with `steps:`, in place of those of the campaign
};

// The catalogues to validate against; passed in, since only the command line links them all.
struct Catalogs {
  std::span<const TargetEntry> targets;
  std::span<const WorkloadEntry> workloads;
  std::span<const FaultEntry> faults;
  std::span<const CheckerEntry> checkers;
};

Result<Campaign> load_campaign(const std::filesystem::path& file, const CampaignChanges& changes,
                               const Catalogs& catalogs);

// Settings at the top level of a campaign: duration, workers, rate, and the time-outs.
std::span<const OptionSpec> campaign_settings();

}  // namespace ordeal
