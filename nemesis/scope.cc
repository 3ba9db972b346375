#include "nemesis/scope.h"

#include <algorithm>
#include <numeric>

namespace ordeal {
namespace {

std::size_t how_many(std::string_view choice, std::size_t hosts, Random& random) {
  if (choice == "random") {
    constexpr std::string_view drawn[] = {"one", "some", "all"};
    return how_many(drawn[random.below(3)], hosts, random);
  }
  if (choice == "all") return hosts;
  if (choice == "majority") return hosts / 2 + 1;
  if (choice == "minority") return std::max<std::size_t>(1, (hosts - 1) / 2);
  if (choice == "some" && hosts > 2) return 2 + random.below(hosts - 2);
  return 1;
}

std::vector<std::string> draw_some(const std::vector<std::string>& hosts, std::string_view choice,
                                   Random& random) {
  if (hosts.empty()) return {};
  std::vector<std::size_t> places(hosts.size());
  std::iota(places.begin(), places.end(), 0);
  const std::size_t count = how_many(choice, hosts.size(), random);
  places = shuffled(std::move(places), random);
  places.resize(count);
  std::sort(places.begin(), places.end());
  std::vector<std::string> drawn;
  for (const std::size_t place : places) drawn.push_back(hosts[place]);
  return drawn;
}

}  // namespace

bool has_role(const Terrain::Server& server, std::string_view role) {
  return role.empty() || server.role == role ||
         server.role.compare(0, role.size() + 1, std::string(role) + ".") == 0;
}

std::vector<std::string> draw_servers(const Options& options, const Terrain& terrain,
                                      Random& random) {
  const std::string& role = options.text("role");
  std::vector<std::string> hosts;
  for (const Terrain::Server& server : terrain.servers) {
    if (has_role(server, role)) hosts.push_back(server.host);
  }
  return draw_some(hosts, options.text("hosts"), random);
}

std::string draw_leg(const Options& options, const Terrain& terrain, Random& random) {
  const std::vector<std::string> wanted = options.list("legs");
  std::vector<std::string> names;
  for (const Leg& leg : terrain.legs) {
    const bool is_wanted = std::find(wanted.begin(), wanted.end(), leg.name) != wanted.end();
    if (wanted.empty() || is_wanted) names.push_back(leg.name);
  }
  return names.empty() ? "" : names[random.below(names.size())];
}

std::string draw_direction(const Options& options, Random& random) {
  const std::string drawn(kDirectionChoices[random.below(3)]);
  return options.text("direction") == "random" ? drawn : options.text("direction");
}

Fault draw_on_leg(std::string name, const Options& options, const Terrain& terrain, Random& random,
                  std::map<std::string, std::string> parameters) {
  Fault fault{.name = std::move(name), .hosts = {}};
  const std::string leg = draw_leg(options, terrain, random);
  const std::string direction = draw_direction(options, random);
  if (leg.empty()) return fault;
  fault.legs = {leg};
  fault.parameters = std::move(parameters);
  fault.parameters["direction"] = direction;
  return fault;
}

std::string_view share_of(std::size_t hosts, std::size_t of) {
  if (hosts >= of) return "all";
  return hosts == 1 ? "one" : "some";
}

}  // namespace ordeal
