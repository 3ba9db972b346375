#include "nemesis/needs.h"

#include <fmt/format.h>

namespace ordeal {
namespace {

struct Advice {
  std::string_view missing;
  std::string_view remedy;
};

Advice advice(FaultNeed need) {
  switch (need) {
    case FaultNeed::nothing:
      return {};
    case FaultNeed::root:
      return {"commands that run as root",
              "use a login that is root, or `lab: netns` started as root"};
    case FaultNeed::packet_filter:
      return {"a packet filter of its own (iptables, as root)",
              "use `lab: netns` as root or an inventory of machines with iptables"};
    case FaultNeed::faketime:
      return {"libfaketime", "install the package faketime on it"};
    case FaultNeed::own_clock:
      return {"a clock of its own that root may set",
              "use an inventory of machines, or clock-skew, which moves the server's clock alone"};
    case FaultNeed::netem:
      return {"netem in its kernel, and root (sch_netem, tc)",
              "use the faults of the fault proxy, such as latency"};
    case FaultNeed::tbf:
      return {"tbf in its kernel, and root (sch_tbf, tc)", "use the fault proxy's bandwidth"};
    case FaultNeed::own_disk:
      return {"a disk of its own, and root",
              "give the hosts of the lab one, of so many MiB of memory: `hosts: {lab: netns, disk: "
              "512}`, or use an inventory of machines"};
    case FaultNeed::tracing:
      return {"strace, or the right to attach it to the server's processes",
              "install the package strace on it, and log in as root or as the server's user where "
              "kernel.yama.ptrace_scope is 0"};
    case FaultNeed::proxy:
      return {};
  }
  return {};
}

// Faults of the catalogue that this host can do, and that may be advised.
std::vector<std::string_view> possible_faults(const HostAbilities& abilities) {
  std::vector<std::string_view> names;
  for (const FaultEntry& entry : fault_catalog()) {
    if (need_met(entry.need, abilities) && !entry.dangerous) names.push_back(entry.name);
  }
  return names;
}

}  // namespace

bool need_met(FaultNeed need, const HostAbilities& abilities) {
  switch (need) {
    case FaultNeed::nothing:
      return true;
    case FaultNeed::root:
      return abilities.root;
    case FaultNeed::packet_filter:
      return abilities.root && abilities.packet_filter;
    case FaultNeed::faketime:
      return abilities.faketime;
    case FaultNeed::own_clock:
      return abilities.root && abilities.own_clock;
    case FaultNeed::netem:
      return abilities.root && abilities.netem;
    case FaultNeed::tbf:
      return abilities.root && abilities.tbf;
    case FaultNeed::own_disk:
      return abilities.root && abilities.own_disk;
    case FaultNeed::tracing:
      return abilities.tracing;
    case FaultNeed::proxy:  // in the run's own process
      return true;
  }
  return false;
}

Status check_need(const FaultEntry& fault, const Host& host) {
  if (need_met(fault.need, host.abilities())) return {};
  const Advice text = advice(fault.need);
  return bad_input("fault {} cannot be done on host {}: it lacks {}; {}, or use one of: {}",
                   fault.name, host.name(), text.missing, text.remedy,
                   fmt::join(possible_faults(host.abilities()), ", "));
}

}  // namespace ordeal
