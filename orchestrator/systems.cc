#include "orchestrator/systems.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <set>
#include <utility>

#include "base/names.h"
#include "orchestrator/split_client.h"

namespace ordeal {
namespace {

// "db.replication" of system db; the name alone where the system has none.
std::string qualified(const System& system, const std::string& name) {
  return system.name.empty() ? name : system.name + "." + name;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

Result<std::unique_ptr<Systems>> Systems::make(const Campaign& campaign, const Cluster& cluster) {
  std::unique_ptr<Systems> systems(new Systems(campaign));
  for (const System& system : campaign.systems) ORDEAL_TRY(systems->add(system, cluster));
  systems->admit_downstream();
  return systems;
}

Status Systems::add(const System& system, const Cluster& cluster) {
  Part part{system, std::make_unique<Cluster>(cluster.only(system.hosts)), nullptr};
  const Part* upstream = find(system.upstream);
  const TargetInput input{
      .options = system.target.options,
      .workload = std::string(campaign_.workload.entry->name),
      .workload_options = campaign_.workload.options,
      .cluster = *part.cluster,
      .clients = static_cast<std::size_t>(campaign_.settings.integer("workers")),
      .step_timeout = campaign_.settings.duration("step-timeout"),
      .upstream = upstream == nullptr ? nullptr : upstream->target.get()};
  ORDEAL_TRY_ASSIGN(part.target, system.target.entry->make(input));
  for (const std::string& name : part.target->hosts()) {
    if (part.cluster->find(name) != nullptr) continue;
    return bad_input("{}: target {}: no host \"{}\"", system.target.where,
                     system.target.entry->name, name);
  }
  parts_.push_back(std::move(part));
  return {};
}

void Systems::admit_downstream() {
  for (const Part& part : parts_) {
    if (part.system.upstream.empty()) continue;
    std::vector<std::string> addresses;
    for (const std::string& host : part.target->hosts()) {
      addresses.push_back(part.cluster->find(host)->spec().address);
    }
    find(part.system.upstream)->target->admit(addresses);
  }
}

const Systems::Part* Systems::find(const std::string& system) const {
  const auto found = std::find_if(parts_.begin(), parts_.end(),
                                  [&](const Part& part) { return part.system.name == system; });
  return found == parts_.end() ? nullptr : &*found;
}

const Systems::Part& Systems::part_of(const std::string& host) const {
  for (const Part& part : parts_) {
    if (has(part.system.hosts, host)) return part;
  }
  throw std::logic_error("no system has host " + host);
}

std::vector<std::vector<std::string>> Systems::start_order() const {
  std::vector<std::vector<std::string>> order;
  for (const Part& part : parts_) order.push_back(part.target->hosts());
  return order;
}

std::map<std::string, ProvisionedSystem> Systems::provisioned() const {
  std::map<std::string, ProvisionedSystem> all;
  for (const Part& part : parts_) {
    const auto settings = names_of(part.system.target.entry->options);
    const bool versioned = std::find(settings.begin(), settings.end(), "version") != settings.end();
    for (const std::string& host : part.target->hosts()) {
      all[std::string(part.system.target.entry->name)][host] =
          versioned ? part.system.target.options.text("version") : "";
    }
  }
  return all;
}

std::string Systems::text() const {
  std::vector<std::string> names;
  for (const Part& part : parts_) {
    const std::string target(part.system.target.entry->name);
    names.push_back(part.system.name.empty() ? target
                                             : fmt::format("{} ({})", part.system.name, target));
  }
  return boost::join(names, ", ");
}

Result<std::string> Systems::versions(const Cluster& cluster) {
  std::vector<std::string> texts;
  for (const Part& part : parts_) {
    Host* first = cluster.find(part.target->hosts().front());
    ORDEAL_TRY_ASSIGN(const std::string version, part.target->version(*first));
    texts.push_back(part.system.name.empty() ? version : part.system.name + ": " + version);
  }
  return boost::join(texts, ", ");
}

std::vector<std::string> Systems::strangers(const Cluster& cluster) {
  std::vector<std::string> alone;
  for (const auto& hosts : start_order()) {
    if (hosts.size() < 2) continue;
    std::set<std::string> counted;
    for (const std::string& name : hosts) {
      const auto known = members(*cluster.find(name));
      if (!known) continue;
      for (const std::string& member : *known) {
        if (member != name) counted.insert(member);
      }
    }
    std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(alone),
                 [&](const std::string& name) { return !counted.contains(name); });
  }
  return alone;
}

std::vector<std::string> Systems::hosts() const {
  std::vector<std::string> names;
  for (const auto& of_system : start_order()) {
    names.insert(names.end(), of_system.begin(), of_system.end());
  }
  return names;
}

std::string Systems::role(const std::string& host) const {
  const Part& part = part_of(host);
  std::set<std::string> roles;
  for (const std::string& each : part.target->hosts()) roles.insert(part.target->role(each));
  const bool says_nothing = !part.system.name.empty() && roles.size() == 1;
  return says_nothing ? part.system.name : qualified(part.system, part.target->role(host));
}

std::vector<Leg> Systems::legs() const {
  std::vector<Leg> all;
  for (const Part& part : parts_) {
    for (Leg& leg : part.target->legs()) {
      leg.name = qualified(part.system, leg.name);
      all.push_back(std::move(leg));
    }
  }
  return all;
}

Status Systems::reroute(const std::string& leg, const Path& path, const std::string& address,
                        int port) {
  for (const Part& part : parts_) {
    for (const Leg& own : part.target->legs()) {
      if (qualified(part.system, own.name) == leg) {
        return part.target->reroute(own.name, path, address, port);
      }
    }
  }
  return internal_error("there is no leg {}", leg);
}

Status Systems::install(Host& host, std::stop_token stop) {
  return of(host.name()).install(host, std::move(stop));
}

Status Systems::start(Host& host, std::stop_token stop) {
  return of(host.name()).start(host, std::move(stop));
}

Status Systems::await_ready(Host& host, std::chrono::milliseconds timeout, std::stop_token stop) {
  return of(host.name()).await_ready(host, timeout, std::move(stop));
}

Status Systems::follow(Host& host, std::stop_token stop) {
  return of(host.name()).follow(host, std::move(stop));
}

Status Systems::stop(Host& host) { return of(host.name()).stop(host); }

ServerControl Systems::control(const Host& host) const { return of(host.name()).control(host); }

Status Systems::download_logs(Host& host, const std::filesystem::path& into) {
  return of(host.name()).download_logs(host, into);
}

Result<std::string> Systems::version(Host& host) { return of(host.name()).version(host); }

Result<std::vector<std::string>> Systems::members(Host& host) {
  return of(host.name()).members(host);
}

Result<std::unique_ptr<Client>> Systems::connect(std::string_view workload, ProcessId process,
                                                 std::stop_token stop) {
  Target& writes = *find(campaign_.clients.system)->target;
  ORDEAL_TRY_ASSIGN(auto client, writes.connect(workload, process, std::move(stop)));
  if (campaign_.clients.reads.empty()) return client;
  Target& reads = *find(campaign_.clients.reads)->target;
  return split_client(std::move(client),
                      [&reads, workload = std::string(workload), process](std::stop_token now) {
                        return reads.connect(workload, process, std::move(now));
                      });
}

}  // namespace ordeal
