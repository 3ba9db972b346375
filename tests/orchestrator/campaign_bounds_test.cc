// Between which bounds the settings of campaign files are.
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/orchestrator/campaign_text.h"

using namespace ordeal;

TEST_CASE("a disk is for hosts that are namespaces") {
  const std::string netns = "{lab: netns, names: [n1], disk: 512}";
  const std::string lab = "{lab: local, names: [n1]}";
  CHECK(load(replaced(kGood, lab, netns))->hosts.disk_mib == 512);
  CHECK(error_of(replaced(kGood, lab, "{lab: local, names: [n1], disk: 512}")) ==
        "c.yaml:2:34: hosts: only hosts of `lab: netns` and `lab: vm` can be given a disk");
  CHECK(error_of(replaced(kGood, lab, "{lab: netns, names: [n1], disk: 99999999}")) ==
        "c.yaml:2:34: hosts: disk is \"99999999\": expected 0 to 1048576");
}

TEST_CASE("disks in memory take no more than there is") {
  const std::string lab = "{lab: local, names: [n1]}";
  const auto memory_mib = sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGE_SIZE) / 1024) / 1024;
  const auto mib = std::to_string(memory_mib);
  const auto half = std::to_string(memory_mib / 2);
  const auto checked = [&](const std::string& hosts) {
    const Status status = check_memory(load(replaced(kGood, lab, hosts))->hosts);
    return status ? "" : status.error().message;
  };
  const std::string refused = checked("{lab: netns, names: [n1, n2], disk: " + mib + "}");
  CAPTURE(refused);
  CHECK(refused.ends_with("/c.yaml:2:38: hosts: disk is " + mib +
                          " MiB: expected 2 disks of at most " + half +
                          " MiB, which are in memory, of which this machine has " + mib + " MiB"));
  CHECK(checked("{lab: netns, names: [n1, n2], disk: " + half + "}").empty());
  CHECK(checked("{lab: vm, names: [n1, n2], disk: " + mib + "}").empty());
}

TEST_CASE("no time may be nothing, but those without faults") {
  const std::string more = ": expected more than 0, e.g. ";
  CHECK(error_of(replaced(kGood, "workers: 3", "step-timeout: 0s")) ==
        "c.yaml:7:1: campaign: step-timeout is \"0s\"" + more + "60s");
  CHECK(error_of(replaced(kGood, "workers: 3", "duration: 0.1ms")) ==
        "c.yaml:7:1: campaign: duration is \"0.1ms\"" + more + "60s");
  for (const std::string name : {"interval", "duration-min", "duration-max"}) {
    CHECK(error_of(replaced(kGood, "workers: 3", "schedule: {" + name + ": 0s}"))
              .find("c.yaml:7:12: schedule: " + name + " is \"0s\"" + more) == 0);
  }
  CHECK(error_of(replaced(kGood, "{settings: {fsync: off}}", "{operation-timeout: 0ms}"))
            .find("c.yaml:4:14: target postgres: operation-timeout is \"0ms\"" + more) == 0);
  CHECK(load(replaced(kGood, "workers: 3", "schedule: {quiet-start: 0s, quiet-end: 0s}")));
  CampaignChanges changes;
  changes.duration = "0s";
  CHECK(error_of(replaced(kGood, "workers: 3", "duration: 5s"), changes) ==
        "--duration 0s: campaign: duration is \"0s\"" + more + "60s");
}

TEST_CASE("settings have bounds that make sense") {
  const auto with = [](const std::string& fault) {
    return error_of(replaced(kGood, "  pause:", "  " + fault));
  };
  CHECK(with("clock-skew: {max-offset: 9000h}") ==
        "c.yaml:10:16: fault clock-skew: max-offset is \"9000h\": expected at most a year (8760h)");
  CHECK(with("clock-strobe: {period: 3s}") ==
        "c.yaml:10:18: fault clock-strobe: period is \"3s\": expected at most 2500ms");
  CHECK(with("packet-delay: {max-delay: 2m}") ==
        "c.yaml:10:18: fault packet-delay: max-delay is \"2m\": expected at most 60s");
  CHECK(with("disk-slow: {max-delay: 6s}") ==
        "c.yaml:10:15: fault disk-slow: max-delay is \"6s\": expected at most 5s");
  CHECK(with("host-clock-strobe: {period: 3s}") ==
        "c.yaml:10:23: fault host-clock-strobe: period is \"3s\": expected at most 2500ms");
  CHECK(with("clock-skew: {max-offset: 900ms}") ==
        "c.yaml:10:16: fault clock-skew: max-offset is \"900ms\": expected at least 1s, e.g. 60s");
  for (const std::string toxicity : {"0", "0.0001"}) {
    CHECK(with("latency: {toxicity: " + toxicity + "}") ==
          "c.yaml:10:13: fault latency: toxicity is \"" + toxicity +
              "\": expected a number from 0.001 to 1");
  }
  CampaignChanges changes;
  changes.duration = "99999999999999h";
  CHECK(error_of(kGood, changes) ==
        "--duration 99999999999999h: campaign: duration is \"99999999999999h\": expected at most a "
        "year (8760h)");
}
