#include "nemesis/grudge.h"

#include <algorithm>
#include <cassert>
#include <cstddef>

#include "nemesis/scope.h"

namespace ordeal {
namespace {

std::vector<HostNames> bisect(const HostNames& hosts) {
  const auto middle = hosts.begin() + static_cast<std::ptrdiff_t>(hosts.size() / 2);
  return {HostNames(hosts.begin(), middle), HostNames(middle, hosts.end())};
}

}  // namespace

Grudge complete_grudge(const std::vector<HostNames>& components) {
  Grudge grudge;
  for (const HostNames& own : components) {
    for (const HostNames& other : components) {
      if (&own == &other) continue;
      for (const std::string& host : own) grudge[host].insert(other.begin(), other.end());
    }
  }
  return grudge;
}

Grudge isolate(const std::string& host, const HostNames& hosts) {
  HostNames rest;
  std::copy_if(hosts.begin(), hosts.end(), std::back_inserter(rest),
               [&](const std::string& other) { return other != host; });
  return complete_grudge({{host}, rest});
}

Grudge halves(const HostNames& hosts) { return complete_grudge(bisect(hosts)); }

Grudge bridge(const HostNames& hosts) {
  assert(hosts.size() >= 3);
  std::vector<HostNames> components = bisect(hosts);
  components[1].erase(components[1].begin());  // the bridge belongs to no component
  return complete_grudge(components);
}

Grudge majorities_ring(const HostNames& hosts, Random& random) {
  const HostNames ring = shuffled(hosts, random);
  const std::size_t count = ring.size();
  const std::size_t reach = (count / 2 + 1) / 2;  // heard on either side: 2 * reach + 1 >= majority
  Grudge grudge;
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t distance = reach + 1; distance + reach < count; ++distance) {
      grudge[ring[from]].insert(ring[(from + distance) % count]);
    }
  }
  return grudge;
}

Grudge one_sided(const Grudge& grudge, const HostNames& order) {
  const auto place = [&](const std::string& host) {
    return std::find(order.begin(), order.end(), host);
  };
  const auto drops = [&](const std::string& host, const std::string& other) {
    const auto found = grudge.find(host);
    return found != grudge.end() && found->second.count(other) != 0;
  };
  Grudge result;
  for (const auto& [host, dropped] : grudge) {
    for (const std::string& other : dropped) {
      if (!drops(other, host) || place(host) < place(other)) result[host].insert(other);
    }
  }
  return result;
}

}  // namespace ordeal
