// Shapes of partitions as pure functions, after Jepsen's nemesis (jepsen/nemesis.clj, "grudges"):
// for each host, the hosts whose packets it drops. HostNames that drop nothing may be missing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"

namespace ordeal {

using Grudge = std::map<std::string, std::set<std::string>>;
using HostNames = std::vector<std::string>;

// No host of one component hears one of another.
Grudge complete_grudge(const std::vector<HostNames>& components);
// `host` and the rest don't hear each other.
Grudge isolate(const std::string& host, const HostNames& hosts);
// The first half (the smaller one) against the rest.
Grudge halves(const HostNames& hosts);
// Halves, but for one host between them that hears, and is heard by, all. Needs three hosts.
Grudge bridge(const HostNames& hosts);
// Every host hears a majority, itself included, and no two hosts hear the same one: each hears its
// neighbours on a ring of drawn order. With fewer than four hosts all see all: empty.
Grudge majorities_ring(const HostNames& hosts, Random& random);
// Of two hosts that drop each other's packets, only the one that comes first in `order` still does.
Grudge one_sided(const Grudge& grudge, const HostNames& order);

}  // namespace ordeal
