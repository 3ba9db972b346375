// Preparing the hosts of an inventory by a playbook of Ansible, before a run: packages, limits,
// database servers. See docs/hosts.md.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/console.h"
#include "orchestrator/inventory.h"
#include "remote/host.h"

namespace ordeal {

// What is to be installed where; the playbook sees it as ordeal_systems.NAME.
struct ProvisionedSystem {
  std::string version;  // "" where the target has no such setting
  std::vector<std::string> hosts;
};

struct ProvisionRequest {
  const std::filesystem::path& inventory_file;
  const Inventory& inventory;
  std::filesystem::path playbook;  // "": Ordeal's own
  std::map<std::string, ProvisionedSystem> systems;
  std::filesystem::path log;               // everything that Ansible prints, without secrets
  std::chrono::milliseconds task_timeout;  // for each task, on all hosts
  const Cluster& cluster;                  // of the inventory's hosts; they can be reached
  Console& console;                        // its status line names the task
  std::stop_token stop;
};

// Host keys are checked as everywhere else. The error, of kind surroundings, names host and task,
// and has the log's last lines. On every way out nothing of Ansible's is left running here or, as
// far as they can be reached, on the hosts.
Status provision(const ProvisionRequest& request);

}  // namespace ordeal
