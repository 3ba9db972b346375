// The systems of a campaign as one target: what is done to a host is done by the system that the
// host belongs to. Where systems have names, a server's role is SYSTEM, or SYSTEM.ROLE where the
// system has servers of several roles, and a leg is SYSTEM.LEG.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/campaign.h"
#include "orchestrator/provision.h"
#include "remote/host.h"
#include "targets/target.h"

namespace ordeal {

class Systems : public Target {
 public:
  // bad_input where a target refuses its settings on these hosts. The arguments outlive the object.
  static Result<std::unique_ptr<Systems>> make(const Campaign& campaign, const Cluster& cluster);

  // The hosts of each system, in the order in which systems start.
  std::vector<std::vector<std::string>> start_order() const;
  // What is to be installed where, by target.
  std::map<std::string, ProvisionedSystem> provisioned() const;
  // For people: "postgres", or "db (postgres), cache (redis)".
  std::string text() const;
  // The same with versions, each asked of the system's first host.
  Result<std::string> versions(const Cluster& cluster);

  // Hosts that no other server of their system counts as a member; none of systems of one host.
  std::vector<std::string> strangers(const Cluster& cluster);

  std::vector<std::string> hosts() const override;
  std::string role(const std::string& host) const override;
  std::vector<Leg> legs() const override;
  Status reroute(const std::string& leg, const Path& path, const std::string& address,
                 int port) override;
  Status install(Host& host, std::stop_token stop) override;
  Status start(Host& host, std::stop_token stop) override;
  Status await_ready(Host& host, std::chrono::milliseconds timeout, std::stop_token stop) override;
  Status follow(Host& host, std::stop_token stop) override;
  Status stop(Host& host) override;
  ServerControl control(const Host& host) const override;
  Status download_logs(Host& host, const std::filesystem::path& into) override;
  Result<std::string> version(Host& host) override;
  Result<std::vector<std::string>> members(Host& host) override;
  // To the campaign's clients' systems.
  Result<std::unique_ptr<Client>> connect(std::string_view workload, ProcessId process,
                                          std::stop_token stop) override;

 private:
  struct Part {
    const System& system;
    std::unique_ptr<Cluster> cluster;  // its hosts; at one address, since the target refers to it
    std::unique_ptr<Target> target;
  };

  explicit Systems(const Campaign& campaign) : campaign_(campaign) {}
  Status add(const System& system, const Cluster& cluster);
  void admit_downstream();
  const Part& part_of(const std::string& host) const;
  Target& of(const std::string& host) const { return *part_of(host).target; }
  const Part* find(const std::string& system) const;

  const Campaign& campaign_;
  std::vector<Part> parts_;
};

}  // namespace ordeal
