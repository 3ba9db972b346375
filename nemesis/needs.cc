#include "nemesis/needs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

namespace ordeal {
namespace {

struct Advice {
  std::string missing;
  std::string_view remedy;
  std::vector<std::string_view> like;  // faults with a similar effect and other needs
};

constexpr std::string_view kRoot = "commands that run as root";
constexpr std::string_view kBecomeRoot =
    "use a login that is root, or `lab: netns` started as root";

Advice advice(FaultNeed need) {
  switch (need) {
    case FaultNeed::nothing:
    case FaultNeed::proxy:
      return {};
    case FaultNeed::root:
      return {std::string(kRoot), kBecomeRoot, {}};
    case FaultNeed::packet_filter:
      return {"a packet filter of its own (iptables, as root)",
              "use `lab: netns` as root or an inventory of machines with iptables",
              {"timeout", "half-open", "leg-refuse", "segment-loss"}};
    case FaultNeed::faketime:
      return {"libfaketime", "install the package faketime on it", {"host-clock-skew"}};
    case FaultNeed::own_clock:
      return {"a clock of its own that root may set",
              "use an inventory of machines that are no containers",
              {"clock-skew", "clock-strobe", "clock-drift"}};
    case FaultNeed::netem:
      return {"the module sch_netem in its kernel (CONFIG_NET_SCH_NETEM)",
              "use a machine whose kernel has it",
              {"latency", "slicer", "packet-loss", "segment-loss"}};
    case FaultNeed::tbf:
      return {"the module sch_tbf in its kernel (CONFIG_NET_SCH_TBF)",
              "use a machine whose kernel has it",
              {"bandwidth", "slicer"}};
    case FaultNeed::own_disk:
      return {"a disk of its own",
              "give the hosts of the lab one, of so many MiB of memory: `hosts: {lab: netns, disk: "
              "512}`, or use an inventory of machines",
              {"disk-slow"}};
    case FaultNeed::power:
      return {"a power switch", "use `lab: vm`", {"kill"}};
    case FaultNeed::tracing:
      return {"strace, or the right to attach it to the server's processes",
              "install the package strace on it, and log in as root or as the server's user where "
              "kernel.yama.ptrace_scope is 0",
              {"pause"}};
  }
  return {};
}

// Queues need root before they need a module; that a host has one kind of them shows that it has
// tc.
Advice advice(FaultNeed need, const HostAbilities& abilities) {
  Advice text = advice(need);
  const bool queues = need == FaultNeed::netem || need == FaultNeed::tbf;
  if (queues && !abilities.root) {
    text.missing = kRoot;
    text.remedy = kBecomeRoot;
  } else if (queues && !abilities.netem && !abilities.tbf) {
    text.missing += ", or the program tc";
  }
  std::erase_if(text.like, [&](std::string_view name) {
    const auto catalog = fault_catalog();
    return std::none_of(catalog.begin(), catalog.end(), [&](const FaultEntry& entry) {
      return entry.name == name && need_met(entry.need, abilities);
    });
  });
  return text;
}

}  // namespace

std::string_view need_words(FaultNeed need) {
  switch (need) {
    case FaultNeed::nothing:
      return "";
    case FaultNeed::root:
      return "root";
    case FaultNeed::packet_filter:
      return "a packet filter (iptables), root";
    case FaultNeed::faketime:
      return "libfaketime";
    case FaultNeed::own_clock:
      return "a clock of the host's own, root";
    case FaultNeed::netem:
      return "netem (sch_netem) in the host's kernel, root";
    case FaultNeed::tbf:
      return "tbf (sch_tbf) in the host's kernel, root";
    case FaultNeed::own_disk:
      return "a disk of its own, root";
    case FaultNeed::tracing:
      return "strace, and the right to attach it";
    case FaultNeed::power:
      return "a power switch (lab: vm), root";
    case FaultNeed::proxy:
      return "a leg that leads through the fault proxy";
  }
  return "";
}

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
    case FaultNeed::power:
      return abilities.root && abilities.power;
    case FaultNeed::proxy:  // in the run's own process
      return true;
  }
  return false;
}

Status check_need(const FaultEntry& fault, const Host& host) {
  if (need_met(fault.need, host.abilities())) return {};
  const Advice text = advice(fault.need, host.abilities());
  const std::string like = text.like.empty() ? ""
                                             : fmt::format(", or what does the like there: {}",
                                                           fmt::join(text.like, ", "));
  return bad_input("fault {} cannot be done on host {}: it lacks {}; {}{}", fault.name, host.name(),
                   text.missing, text.remedy, like);
}

}  // namespace ordeal
