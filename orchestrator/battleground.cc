#include "orchestrator/battleground.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <random>

#include "base/names.h"
#include "nemesis/proxy/proxy.h"
#include "orchestrator/faults.h"
#include "orchestrator/legs.h"
#include "orchestrator/provision.h"
#include "remote/abilities.h"

namespace ordeal {
namespace {

// Unique among the runs of a machine, and short, since chains and namespaces are named after it. In
// containers two runs may have one process number, and begin within one millisecond.
std::string run_id() {
  static const std::uint32_t unique = std::random_device{}();
  return fmt::format("r{}-{:x}", getpid(), unique);
}

Result<Lab> hosts_of(const RunRequest& request) {
  const Hosts& hosts = request.campaign.hosts;
  if (hosts.lab.empty()) return hosts.read.lab;
  ORDEAL_TRY(check_memory(hosts));
  LabRequest lab;
  lab.kind = hosts.lab;
  lab.name = run_id();
  lab.hosts = hosts.names;
  lab.disk_mib = hosts.disk_mib;
  lab.backend = hosts.backend;
  lab.memory_mib = hosts.memory_mib;
  ORDEAL_TRY(lab_down_stale());
  return lab_up(lab, request.stop);
}

}  // namespace

Result<std::unique_ptr<Battleground>> Battleground::make(const RunRequest& request) {
  request.console.log().info("bringing up {}",
                             request.campaign.hosts.lab.empty()
                                 ? "the hosts of " + request.campaign.hosts.inventory.string()
                                 : "lab " + request.campaign.hosts.lab);
  ORDEAL_TRY_ASSIGN(Lab lab, hosts_of(request));
  std::unique_ptr<Battleground> ground(new Battleground(request, std::move(lab)));
  ORDEAL_TRY(save_lab(ground->lab_, request.folder.lab()));
  ORDEAL_TRY(enter_control_namespace(ground->lab_));
  ORDEAL_TRY(ground->check_hosts());
  ORDEAL_TRY(ground->provision_hosts());
  ORDEAL_TRY(ground->probe_inventory());
  ORDEAL_TRY(check_needs(request.campaign, ground->cluster_));
  ORDEAL_TRY(ground->make_systems());
  ORDEAL_TRY(check_faults(request.campaign, ground->terrain_));
  ORDEAL_TRY(check_plans(request.campaign, ground->battlefield(), ground->cluster_, request.stop));
  return ground;
}

Battleground::Battleground(const RunRequest& request, Lab lab)
    : request_(request),
      campaign_(request.campaign),
      lab_(std::move(lab)),
      cluster_(make_cluster(lab_)) {}

Battleground::~Battleground() {
  try {
    leave();
  } catch (const std::exception& error) {
    request_.console.log().error("{}; `ordeal lab down` removes what is left", error.what());
  }
}

void Battleground::leave() {
  if (started_) {
    const Status status =
        on_each(systems_->hosts(), [&](Host& host) { return systems_->stop(host); });
    if (!status) request_.console.log().warn("{}", status.error().message);
  }
  if (campaign_.hosts.lab.empty()) return;
  if (const Status status = lab_down(lab_.name); !status) {
    request_.console.log().error("{}; `ordeal lab down` removes what is left",
                                 status.error().message);
  }
}

Status Battleground::check_hosts() {
  const auto timeout = campaign_.settings.duration("step-timeout");
  return cluster_.for_each([&](Host& host) { return host.preflight(timeout); });
}

// A lab knows its hosts; an inventory only names them.
Status Battleground::probe_inventory() {
  if (!campaign_.hosts.lab.empty()) return {};
  std::mutex mutex;
  std::map<std::string, HostAbilities> found;
  ORDEAL_TRY(cluster_.for_each([&](Host& host) -> Status {
    ORDEAL_TRY_ASSIGN(HostAbilities abilities, probe_abilities(host, request_.stop));
    abilities.own_disk = !host.spec().local;
    const std::lock_guard lock(mutex);
    found[host.name()] = abilities;
    return {};
  }));
  for (std::size_t i = 0; i < lab_.hosts.size(); ++i) {
    lab_.abilities[i] = found[lab_.hosts[i].name];
  }
  cluster_ = make_cluster(lab_);
  return save_lab(lab_, request_.folder.lab());
}

// A new one for this, since the target must not keep what is known of unprepared hosts.
Status Battleground::provision_hosts() {
  const Hosts& hosts = campaign_.hosts;
  if (!hosts.provision) return {};
  request_.console.log().info(
      "provisioning by {}", hosts.playbook.empty() ? "Ordeal's playbook" : hosts.playbook.string());
  ORDEAL_TRY_ASSIGN(const auto systems, Systems::make(campaign_, cluster_));
  return provision({hosts.inventory, hosts.read, hosts.playbook, systems->provisioned(),
                    request_.folder.provision_log(), hosts.task_timeout, cluster_, request_.console,
                    request_.stop});
}

Status Battleground::make_systems() {
  ORDEAL_TRY_ASSIGN(systems_, Systems::make(campaign_, cluster_));
  for (const auto& group : unclaimed_groups(campaign_.hosts.read, systems_->hosts())) {
    request_.console.log().warn(
        "group {} of {} takes no part: no setting of {} names it or one of its hosts", group,
        campaign_.hosts.inventory.string(), systems_->text());
  }
  terrain_ = terrain_of(*systems_);
  ORDEAL_TRY_ASSIGN(proxy_, route_legs(campaign_, *systems_, terrain_, cluster_.control_address,
                                       Random(request_.seed).derive("proxy").next()));
  return {};
}

// `action` on all of these hosts at once.
Status Battleground::on_each(const std::vector<std::string>& hosts,
                             const std::function<Status(Host&)>& action) const {
  return cluster_.only(hosts).for_each(action);
}

Status Battleground::start_servers(std::stop_token stop) {
  request_.console.log().info("starting {}", systems_->text());
  ORDEAL_TRY(on_each(systems_->hosts(), [&](Host& host) { return systems_->install(host, stop); }));
  started_ = true;
  for (const auto& hosts : systems_->start_order()) {
    ORDEAL_TRY(on_each(hosts, [&](Host& host) { return systems_->start(host, stop); }));
    ORDEAL_TRY(await_ready(hosts, stop));
  }
  check_members();
  ORDEAL_TRY_ASSIGN(version_, systems_->versions(cluster_));
  request_.console.log().info("{} is ready", version_);
  return {};
}

Status Battleground::await_ready(std::stop_token stop) {
  return await_ready(systems_->hosts(), std::move(stop));
}

Status Battleground::await_ready(const std::vector<std::string>& hosts, std::stop_token stop) {
  const auto timeout = campaign_.settings.duration("step-timeout");
  return on_each(hosts, [&](Host& host) { return systems_->await_ready(host, timeout, stop); });
}

void Battleground::check_members() {
  for (const std::string& host : systems_->strangers(cluster_)) {
    request_.console.log().warn(
        "{} serves clients, but no other server of {} counts it as a member", host,
        systems_->text());
  }
}

Status Battleground::set_up_objects(std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(auto client,
                    systems_->connect(campaign_.workload.entry->name, ProcessId{0}, stop));
  ORDEAL_TRY(client->setup(stop));
  for (const auto& hosts : systems_->start_order()) {
    ORDEAL_TRY(on_each(hosts, [&](Host& host) { return systems_->follow(host, stop); }));
  }
  return sync_disks(stop);
}

// A power cut that takes the set-up would test nothing.
Status Battleground::sync_disks(const std::stop_token& stop) const {
  const auto timeout = campaign_.settings.duration("step-timeout");
  return cluster_.for_each([&](Host& host) -> Status {
    if (!host.abilities().power) return {};
    ORDEAL_TRY(run_checked(host, {{"sync"}, {}, {}, {}}, timeout, stop));
    return {};
  });
}

void Battleground::download_logs() {
  const Status status = on_each(systems_->hosts(), [&](Host& host) -> Status {
    const auto into = request_.folder.host(host.name());
    std::error_code error;
    std::filesystem::create_directories(into, error);
    if (error)
      return surroundings_error("{}: cannot be created: {}", into.string(), error.message());
    return systems_->download_logs(host, into);
  });
  if (!status) request_.console.log().warn("{}", status.error().message);
}

Battlefield Battleground::battlefield() {
  Battlefield field;
  field.control_address = cluster_.control_address;
  for (const Host* host : cluster_.hosts()) field.hosts.push_back(host);
  field.server = [this](const Host& host) { return systems_->control(host); };
  field.run_id = run_id();
  field.terrain = terrain_;
  field.proxy = proxy_.get();
  return field;
}

}  // namespace ordeal
