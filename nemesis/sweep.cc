#include "nemesis/sweep.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace ordeal {
namespace {

using std::chrono::milliseconds;

std::set<std::string> hosts_of(const Fault& fault, const Terrain& terrain) {
  std::set<std::string> hosts(fault.hosts.begin(), fault.hosts.end());
  for (const Leg& leg : terrain.legs) {
    if (std::find(fault.legs.begin(), fault.legs.end(), leg.name) == fault.legs.end()) continue;
    for (const Path& path : leg.paths) hosts.insert({path.from, path.to});
  }
  return hosts;
}

template <class Names>
bool disjoint(const Names& a, const Names& b) {
  return std::none_of(a.begin(), a.end(), [&](const auto& name) {
    return std::find(b.begin(), b.end(), name) != b.end();
  });
}

// A host's device has one queueing discipline at a time.
bool queues_packets(const Fault& fault) {
  const FaultEntry* entry = find_fault(fault.name);
  return entry != nullptr && (entry->need == FaultNeed::tbf || entry->need == FaultNeed::netem);
}

using Group = std::vector<ScheduledFault>;  // held together

bool joins(const Group& group, const Fault& fault, const Terrain& terrain) {
  return std::all_of(group.begin(), group.end(), [&](const ScheduledFault& member) {
    return are_apart(member.fault, fault, terrain);
  });
}

std::vector<Group> grouped(const std::vector<ScheduledFault>& drawn, const Terrain& terrain,
                           std::size_t at_once_max) {
  std::vector<Group> groups;
  for (const ScheduledFault& each : drawn) {
    const auto open = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.size() < at_once_max && joins(group, each.fault, terrain);
    });
    if (open != groups.end()) {
      open->push_back(each);
    } else {
      groups.push_back({each});
    }
  }
  return groups;
}

milliseconds scaled(milliseconds time, double by) {
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * by));
}

// With `scale` of what may shrink.
std::vector<ScheduledFault> in_turn(const std::vector<Group>& groups, milliseconds recovery,
                                    double scale) {
  std::vector<ScheduledFault> placed;
  for (const Group& group : groups) {
    milliseconds start =
        placed.empty() ? milliseconds{0} : last_healed(placed) + scaled(recovery, scale);
    for (ScheduledFault member : group) {
      member.start = start;
      member.duration = std::max(scaled(member.duration, scale), milliseconds{1});
      start = planned_times(member).seen;
      placed.push_back(std::move(member));
    }
  }
  return placed;
}

}  // namespace

bool are_apart(const Fault& a, const Fault& b, const Terrain& terrain) {
  if (a.name == b.name || (queues_packets(a) && queues_packets(b))) return false;
  if (!a.legs.empty() && !b.legs.empty()) return disjoint(a.legs, b.legs);
  return disjoint(hosts_of(a, terrain), hosts_of(b, terrain));
}

std::vector<ScheduledFault> lay_out_sweep(const std::vector<ScheduledFault>& drawn,
                                          const Terrain& terrain, const SweepBounds& bounds) {
  const std::vector<Group> groups = grouped(drawn, terrain, bounds.at_once_max);
  std::vector<ScheduledFault> placed = in_turn(groups, bounds.recovery, 1);
  const milliseconds whole = last_healed(placed);
  if (whole <= bounds.window) return placed;
  placed = in_turn(groups, bounds.recovery, 0);
  const milliseconds bare = last_healed(placed);
  if (bare < bounds.window) {
    const double scale = static_cast<double>((bounds.window - bare).count()) /
                         static_cast<double>((whole - bare).count());
    return in_turn(groups, bounds.recovery, scale);
  }
  for (ScheduledFault& each : placed) {
    each.start = each.start * bounds.window.count() / bare.count();
  }
  return placed;
}

milliseconds last_healed(const std::vector<ScheduledFault>& scheduled) {
  milliseconds last{0};
  for (const ScheduledFault& each : scheduled) last = std::max(last, planned_times(each).healed);
  return last;
}

}  // namespace ordeal
