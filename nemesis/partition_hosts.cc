#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/split.hpp>

#include "nemesis/grudge.h"
#include "nemesis/packet_filter.h"
#include "nemesis/partition.h"
#include "nemesis/plan.h"
#include "nemesis/scope.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

constexpr std::string_view kShapes[] = {"one",   "halves",  "majorities-ring", "bridge",
                                        "roles", "systems", "random"};
// What a grudge between two given roles or systems came from.
constexpr const char* kBetween = "between";
constexpr std::string_view kWays[] = {"both", "one", "random"};
Status check_between(std::string_view, const std::string& text) {
  if (text.empty() || std::count(text.begin(), text.end(), ',') == 1) return {};
  return bad_input("expected two roles or systems, e.g. [db, bus]");
}

constexpr OptionSpec kOptions[] = {
    {.name = "shape",
     .default_value = "random",
     .summary = "one host against the rest, halves, a ring of majorities, halves with a bridge, "
                "roles or systems (the hosts of one against those of another), or drawn each time",
     .choices = kShapes},
    {.name = "between",
     .type = OptionType::list,
     .default_value = "",
     .summary =
         "two roles or systems, e.g. [db, bus], in place of a shape: their hosts are cut from each "
         "other",
     .check = check_between},
    {.name = "ways",
     .default_value = "random",
     .summary = "whether hosts drop each other's packets, or only one of two the other's",
     .choices = kWays},
};

HostNames names_of(const Terrain& terrain) {
  HostNames names;
  for (const Terrain::Server& server : terrain.servers) names.push_back(server.host);
  return names;
}

// Of which a role is a part: "db" for db.primary.
std::string system_of(const Terrain::Server& server) {
  return server.role.substr(0, server.role.find('.'));
}
std::string role_of(const Terrain::Server& server) { return server.role; }

// The hosts by what `key` says of their servers.
std::vector<HostNames> by(std::string (*key)(const Terrain::Server&), const Terrain& terrain) {
  std::map<std::string, HostNames> roles;
  for (const Terrain::Server& server : terrain.servers) roles[key(server)].push_back(server.host);
  std::vector<HostNames> groups;
  for (auto& [role, hosts] : roles) groups.push_back(std::move(hosts));
  return groups;
}

// Shapes that cut something among so many hosts.
std::vector<std::string_view> possible_shapes(const Terrain& terrain) {
  const std::size_t hosts = terrain.servers.size();
  std::vector<std::string_view> shapes{"one", "halves"};
  if (hosts >= 4) shapes.push_back("majorities-ring");
  if (hosts >= 3) shapes.push_back("bridge");
  const std::size_t roles = by(role_of, terrain).size();
  const std::size_t systems = by(system_of, terrain).size();
  if (roles >= 2) shapes.push_back("roles");
  if (systems >= 2 && systems < roles) shapes.push_back("systems");
  return shapes;
}

Grudge between_two(std::vector<HostNames> groups, Random& random) {
  std::vector<HostNames> two = shuffled(std::move(groups), random);
  if (two.size() < 2) return {};
  two.resize(2);
  return complete_grudge(two);
}

Grudge shaped(std::string_view shape, const Terrain& terrain, Random& random) {
  const HostNames hosts = shuffled(names_of(terrain), random);
  if (shape == "roles") return between_two(by(role_of, terrain), random);
  if (shape == "systems") return between_two(by(system_of, terrain), random);
  if (shape == "majorities-ring") return majorities_ring(hosts, random);
  if (shape == "bridge" && hosts.size() >= 3) return bridge(hosts);
  return shape == "one" ? isolate(hosts.front(), hosts) : halves(hosts);
}

Grudge between(const std::vector<std::string>& roles, const Terrain& terrain) {
  std::vector<HostNames> groups;
  for (const std::string& role : roles) {
    HostNames hosts;
    for (const Terrain::Server& server : terrain.servers) {
      if (has_role(server, role)) hosts.push_back(server.host);
    }
    if (hosts.empty()) return {};
    groups.push_back(std::move(hosts));
  }
  return complete_grudge(groups);
}

// "n1!n2,n1!n3": n1 drops what n2 and n3 send.
std::string text_of(const Grudge& grudge) {
  std::vector<std::string> pairs;
  for (const auto& [host, dropped] : grudge) {
    for (const std::string& other : dropped) pairs.push_back(host + "!" + other);
  }
  return boost::algorithm::join(pairs, ",");
}

Status check_shape(const std::string& shape) {
  if (shape == kBetween) return {};
  if (shape != "random" &&
      std::find(std::begin(kShapes), std::end(kShapes), shape) != std::end(kShapes)) {
    return {};
  }
  return bad_input("shape={}: expected one of {}", shape, fmt::join(kShapes, ", "));
}

Result<Grudge> grudge_of(const std::string& text) {
  Grudge grudge;
  std::vector<std::string> pairs;
  boost::split(
      pairs, text, [](char c) { return c == ','; }, boost::token_compress_on);
  for (const std::string& pair : pairs) {
    const std::size_t mark = pair.find('!');
    const std::string host = pair.substr(0, mark);
    const std::string other = mark == std::string::npos ? "" : pair.substr(mark + 1);
    if (other.empty() || host == other || !grudge[host].insert(other).second) {
      return bad_input(
          "fault partition-hosts: grudge \"{}\": expected pairs of different hosts, such as n1!n2, "
          "each once",
          text);
    }
  }
  return grudge;
}

Fault draw(const Options& options, const Terrain& terrain, Random& random) {
  Fault fault{.name = "partition-hosts", .hosts = {}};
  if (terrain.servers.size() < 2) return fault;
  const auto possible = possible_shapes(terrain);
  const std::string_view drawn = possible[random.below(possible.size())];
  const std::string& wanted = options.text("shape");
  const auto roles = options.list("between");
  const std::string shape(!roles.empty()       ? std::string_view(kBetween)
                          : wanted == "random" ? drawn
                                               : std::string_view(wanted));
  Grudge grudge = roles.empty() ? shaped(shape, terrain, random) : between(roles, terrain);
  const bool one_way = random.chance(0.5);
  if (options.text("ways") == "one" || (options.text("ways") == "random" && one_way)) {
    grudge = one_sided(grudge, shuffled(names_of(terrain), random));
  }
  if (grudge.empty()) return fault;
  for (const auto& [host, dropped] : grudge) fault.hosts.push_back(host);
  fault.parameters = {{"shape", shape}, {"grudge", text_of(grudge)}};
  return fault;
}

// The hosts are those that drop packets. The shape is what the grudge was drawn by, and is not
// known of one that was written without.
Status settle(Fault& fault, const std::set<std::string>& written) {
  if (fault.parameters.empty()) return {};  // there is nothing to cut
  if (written.count("grudge") == 0 && written.count("shape") != 0) {
    return bad_input(
        "shape={}: of a written step it only tells what its grudge came from; write the grudge, "
        "such as `grudge=n1!n2`, or set the shape among the campaign's faults",
        fault.parameters["shape"]);
  }
  if (written.count("grudge") != 0 && written.count("shape") == 0) fault.parameters.erase("shape");
  if (written.count("shape") != 0) ORDEAL_TRY(check_shape(fault.parameters["shape"]));
  ORDEAL_TRY_ASSIGN(const Grudge grudge, grudge_of(fault.parameters["grudge"]));
  HostNames hosts;
  for (const auto& [host, dropped] : grudge) hosts.push_back(host);
  if (written.count("hosts") != 0 &&
      std::set(hosts.begin(), hosts.end()) != std::set(fault.hosts.begin(), fault.hosts.end())) {
    return bad_input("\"{}\": by the grudge, {} drop packets; leave the hosts out",
                     fmt::join(fault.hosts, ","), fmt::join(hosts, ", "));
  }
  fault.hosts = std::move(hosts);
  return {};
}

std::string detail(const Grudge& grudge) {
  std::vector<std::string> parts;
  for (const auto& [host, dropped] : grudge) {
    parts.push_back(fmt::format("{} drops packets of {}", host, fmt::join(dropped, ", ")));
  }
  return boost::algorithm::join(parts, "; ");
}

Result<FaultPlan> plan(const Fault& fault, const Battlefield& battlefield) {
  ORDEAL_TRY_ASSIGN(const Grudge grudge, grudge_of(fault.parameters.at("grudge")));
  const std::string chain = filter_chain("H", battlefield.run_id);
  FaultPlan result{.detail = detail(grudge), .inject = {}, .undo = {}};
  std::map<std::string, std::vector<Command>> silent;
  std::map<std::string, std::vector<Command>> answered;
  for (const auto& [name, dropped] : grudge) {
    ORDEAL_TRY_ASSIGN(const Host* host, find_host(fault, battlefield, name));
    const std::string& address = host->spec().address;
    const int port = battlefield.server(*host).port;
    FilterRules rules;
    for (const std::string& other : dropped) {
      ORDEAL_TRY_ASSIGN(const Host* peer, find_host(fault, battlefield, other));
      rules.input.push_back("-s " + peer->spec().address + " -j DROP");
      silent[other].push_back(gets_no_answer(address, port));
      answered[other].push_back(gets_answer(address, port));
    }
    result.inject.push_back({name, {add_filter(chain, is_ipv6(address), rules)}});
    result.undo.push_back({name, {remove_filter(chain, is_ipv6(address))}});
  }
  for (auto& [name, probes] : silent) result.effect.push_back({name, std::move(probes)});
  for (auto& [name, probes] : answered) result.healed.push_back({name, std::move(probes)});
  return result;
}

}  // namespace

FaultEntry partition_hosts_fault() {
  return {.name = "partition-hosts",
          .summary = "hosts of the system drop each other's packets, in one of several shapes",
          .need = FaultNeed::packet_filter,
          .options = kOptions,
          .draw = draw,
          .plan = plan,
          .typical = {.to_see = milliseconds(600), .to_heal = milliseconds(400)},
          .settle = settle};
}

}  // namespace ordeal
