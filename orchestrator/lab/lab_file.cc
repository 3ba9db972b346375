// lab.json, and the hosts made from it.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "orchestrator/lab/lab.h"
#include "remote/local_host.h"
#include "remote/ssh_host.h"

namespace ordeal {
namespace {

using nlohmann::json;

json host_to_json(const HostSpec& spec, const HostAbilities& abilities) {
  return {{"name", spec.name},
          {"address", spec.address},
          {"ssh_port", spec.ssh_port},
          {"user", spec.user},
          {"identity", spec.identity.string()},
          {"known_hosts", spec.known_hosts.string()},
          {"local", spec.local},
          {"directory", spec.directory.string()},
          {"proxy_command", spec.proxy_command},
          {"power", spec.power.string()},
          {"abilities",
           {{"root", abilities.root},
            {"packet_filter", abilities.packet_filter},
            {"own_clock", abilities.own_clock},
            {"faketime", abilities.faketime},
            {"netem", abilities.netem},
            {"tbf", abilities.tbf},
            {"own_disk", abilities.own_disk},
            {"tracing", abilities.tracing},
            {"power", abilities.power}}}};
}

HostSpec spec_from_json(const json& host) {
  return {.name = host.at("name"),
          .address = host.at("address"),
          .ssh_port = host.at("ssh_port"),
          .user = host.at("user"),
          .identity = host.at("identity").get<std::string>(),
          .known_hosts = host.at("known_hosts").get<std::string>(),
          .local = host.at("local"),
          .directory = host.at("directory").get<std::string>(),
          .proxy_command = host.value("proxy_command", ""),
          .power = host.value("power", "")};
}

HostAbilities abilities_from_json(const json& abilities) {
  return {.root = abilities.at("root"),
          .packet_filter = abilities.at("packet_filter"),
          .own_clock = abilities.at("own_clock"),
          .faketime = abilities.at("faketime"),
          .netem = abilities.at("netem"),
          .tbf = abilities.at("tbf"),
          .own_disk = abilities.at("own_disk"),
          .tracing = abilities.at("tracing"),
          .power = abilities.value("power", false)};
}

Lab lab_from_json(const json& from) {
  Lab lab;
  lab.kind = from.at("kind");
  lab.name = from.at("name");
  lab.control_address = from.at("control_address");
  for (const json& host : from.at("hosts")) {
    lab.hosts.push_back(spec_from_json(host));
    lab.abilities.push_back(abilities_from_json(host.at("abilities")));
  }
  return lab;
}

}  // namespace

Status save_lab(const Lab& lab, const std::filesystem::path& file) {
  json to = {{"kind", lab.kind},
             {"name", lab.name},
             {"control_address", lab.control_address},
             {"hosts", json::array()}};
  for (std::size_t i = 0; i < lab.hosts.size(); ++i) {
    to["hosts"].push_back(host_to_json(lab.hosts[i], lab.abilities[i]));
  }
  std::ofstream out(file);
  out << to.dump(2) << '\n';
  out.close();
  if (!out) return surroundings_error("cannot write {}: {}", file.string(), strerror(errno));
  return {};
}

Result<Lab> load_lab(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) return surroundings_error("cannot read {}: {}", file.string(), strerror(errno));
  try {
    return lab_from_json(json::parse(in));
  } catch (const json::exception& error) {
    return bad_input("{} is not a description of a lab: {}", file.string(), error.what());
  }
}

Cluster make_cluster(const Lab& lab) {
  std::vector<std::unique_ptr<Host>> hosts;
  for (std::size_t i = 0; i < lab.hosts.size(); ++i) {
    const auto make = lab.hosts[i].local ? make_local_host : make_ssh_host;
    hosts.push_back(make(lab.hosts[i], lab.abilities[i]));
  }
  Cluster cluster(std::move(hosts));
  cluster.control_address = lab.control_address;
  return cluster;
}

}  // namespace ordeal
