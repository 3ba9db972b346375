#include "nemesis/needs.h"

#include <catch2/catch.hpp>

#include "nemesis/packet_shaping.h"
#include "nemesis/partition.h"
#include "remote/fake_host.h"

namespace ordeal {
namespace {

TEST_CASE("a need is met by the ability that it names") {
  CHECK(need_met(FaultNeed::nothing, {}));
  CHECK_FALSE(need_met(FaultNeed::root, {}));
  CHECK(need_met(FaultNeed::root, {.root = true}));
  CHECK_FALSE(need_met(FaultNeed::packet_filter, {.root = true}));
  CHECK_FALSE(need_met(FaultNeed::packet_filter, {.packet_filter = true}));
  CHECK(need_met(FaultNeed::packet_filter, {.root = true, .packet_filter = true}));
  CHECK(need_met(FaultNeed::faketime, {.faketime = true}));
  CHECK_FALSE(need_met(FaultNeed::own_disk, {.root = true}));
  CHECK(need_met(FaultNeed::own_disk, {.root = true, .own_disk = true}));
  CHECK_FALSE(need_met(FaultNeed::tracing, {.root = true}));
  CHECK(need_met(FaultNeed::tracing, {.tracing = true}));
  CHECK(need_met(FaultNeed::power, {.root = true, .power = true}));
  CHECK_FALSE(need_met(FaultNeed::power, {.root = true}));
}

TEST_CASE("an unmet need names fault, host, what is missing and what to do instead") {
  HostSpec spec;
  spec.name = "n2";
  const FakeHost host(spec, {.faketime = true});
  for (const FaultEntry& entry : fault_catalog()) {
    CAPTURE(entry.name);
    CHECK(check_need(entry, host).has_value() == need_met(entry.need, host.abilities()));
  }
  const Status checked = check_need(partition_fault(), host);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().kind == ErrorKind::bad_input);
  CHECK(checked.error().message ==
        "fault partition cannot be done on host n2: it lacks a packet filter of its own "
        "(iptables, as root); use `lab: netns` as root or an inventory of machines with iptables, "
        "or what does the like there: timeout, half-open, leg-refuse, segment-loss");
}

TEST_CASE("what is missing is what is missing, and what is advised can be done") {
  HostSpec spec;
  spec.name = "n2";
  const auto refusal = [&](const HostAbilities& abilities) {
    const FakeHost host(spec, abilities);
    return check_need(packet_delay_fault(), host).error().message;
  };
  CHECK(refusal({.root = true, .packet_filter = true}) ==
        "fault packet-delay cannot be done on host n2: it lacks the module sch_netem in its kernel "
        "(CONFIG_NET_SCH_NETEM), or the program tc; use a machine whose kernel has it, or what "
        "does the like there: latency, slicer, packet-loss, segment-loss");
  CHECK(refusal({.root = true, .tbf = true}).find("(CONFIG_NET_SCH_NETEM); use a machine") !=
        std::string::npos);
  CHECK(refusal({}) ==
        "fault packet-delay cannot be done on host n2: it lacks commands that run as root; use a "
        "login that is root, or `lab: netns` started as root, or what does the like there: "
        "latency, slicer, segment-loss");
}

}  // namespace
}  // namespace ordeal
