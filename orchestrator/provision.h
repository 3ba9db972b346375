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

// The hosts that a target's programs are to be installed on, and which version of them; "" where
// the target has no such setting.
using ProvisionedSystem = std::map<std::string, std::string>;

struct ProvisionRequest {
  const std::filesystem::path& inventory_file;
  const Inventory& inventory;
  std::filesystem::path playbook;  // "": Ordeal's own
  // By target; the playbook sees the hosts as ordeal_systems.TARGET.hosts, and for each host that
  // has one its version as ordeal_systems.TARGET.versions[HOST].
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
