#include "nemesis/host_choice.h"

#include <algorithm>
#include <numeric>

namespace ordeal {
namespace {

std::size_t how_many(std::string_view choice, std::size_t hosts) {
  if (choice == "all") return hosts;
  if (choice == "majority") return hosts / 2 + 1;
  if (choice == "minority") return std::max<std::size_t>(1, (hosts - 1) / 2);
  return 1;
}

}  // namespace

std::vector<std::string> draw_hosts(std::string_view choice, const std::vector<std::string>& hosts,
                                    Random& random) {
  if (hosts.empty()) return {};
  std::vector<std::size_t> places(hosts.size());
  std::iota(places.begin(), places.end(), 0);
  places = shuffled(std::move(places), random);
  places.resize(how_many(choice, hosts.size()));
  std::sort(places.begin(), places.end());
  std::vector<std::string> drawn;
  for (const std::size_t place : places) drawn.push_back(hosts[place]);
  return drawn;
}

}  // namespace ordeal
