// The hosts of a run and the system under test on them: brought up, checked, started; stopped and
// taken down again when this object goes, on every way out.
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "nemesis/nemesis.h"
#include "orchestrator/lab/lab.h"
#include "orchestrator/run.h"
#include "orchestrator/systems.h"

namespace ordeal {

namespace proxy {
class Proxy;
}

class Battleground {
 public:
  // Brings up the lab, enters its control namespace, logs in everywhere, has the hosts of an
  // inventory provisioned where the campaign says so, and refuses faults that a host can't do.
  // `request` outlives the object.
  static Result<std::unique_ptr<Battleground>> make(const RunRequest& request);
  ~Battleground();
  Battleground(const Battleground&) = delete;
  Battleground& operator=(const Battleground&) = delete;

  // Installs the systems on all hosts at once; starts one system after the other, each when those
  // before it serve clients.
  Status start_servers(std::stop_token stop);
  Status await_ready(std::stop_token stop);
  // Warns of servers that are ready, and that no other one of their system counts as a member.
  void check_members();
  // Creates the workload's tables and the like, lets the systems downstream take them, and has all
  // of the set-up on disk where hosts may lose their power.
  Status set_up_objects(std::stop_token stop);
  // Into the run's folder. What can't be had is logged.
  void download_logs();

  const Cluster& cluster() const { return cluster_; }
  Target& target() { return *systems_; }
  const Terrain& terrain() const { return terrain_; }
  Battlefield battlefield();
  const std::string& version() const { return version_; }  // of the systems' programs

 private:
  void leave();
  Battleground(const RunRequest& request, Lab lab);

  Status check_hosts();
  Status provision_hosts();
  Status probe_inventory();
  Status make_systems();
  Status sync_disks(const std::stop_token& stop) const;
  Status await_ready(const std::vector<std::string>& hosts, std::stop_token stop);
  Status on_each(const std::vector<std::string>& hosts,
                 const std::function<Status(Host&)>& action) const;

  const RunRequest& request_;
  const Campaign& campaign_;
  Lab lab_;
  Cluster cluster_;
  std::unique_ptr<Systems> systems_;
  Terrain terrain_;
  std::unique_ptr<proxy::Proxy> proxy_;  // of the legs; nullptr where none leads through it
  bool started_ = false;
  std::string version_;
};

}  // namespace ordeal
