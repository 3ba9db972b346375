// The section `hosts:` of a campaign, and the settings elsewhere that name hosts.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "orchestrator/campaign_yaml.h"
#include "orchestrator/inventory.h"

namespace ordeal {

struct Hosts {
  std::string lab;                  // one of kLabKinds, or "" with an inventory
  std::vector<std::string> names;   // of all hosts
  std::filesystem::path inventory;  // else: an Ansible inventory
  std::int64_t disk_mib = 0;        // this and the next two as those of LabRequest
  std::string backend = "auto";
  int memory_mib = 0;
  std::string disk_where;                     // it was given, e.g. "campaign.yaml:4:46"
  Inventory read;                             // what the inventory says
  bool provision = false;                     // by Ansible, before the run
  std::filesystem::path playbook;             // for that
  std::chrono::milliseconds task_timeout{0};  // for each task of it
};

// Reads the inventory, too, where there is one.
Result<Hosts> read_hosts(const Origin& origin, const YAML::Node& node);

// bad_input where disks in memory would be larger, all together, than the memory of this machine:
// faults may fill them at once. Asked before a run; reports are made on other machines too.
Status check_memory(const Hosts& hosts);

// Settings of which the value is a host, or hosts: each must be one of the campaign's, or a group
// of its inventory, which is replaced by the hosts in it. `kind` names the settings' owner in
// messages.
Status place_hosts(std::string_view kind, std::span<const OptionSpec> specs, const Hosts& hosts,
                   Options::Given& given);

// The groups of the inventory that have no host among those of `systems`.
std::vector<std::string> unclaimed_groups(const Inventory& inventory,
                                          const std::vector<std::string>& systems);

}  // namespace ordeal
