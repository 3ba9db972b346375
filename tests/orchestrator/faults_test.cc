// Which faults a campaign may have on which terrain.
#include "orchestrator/faults.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "remote/fake_host.h"
#include "tests/support/temporary_directory.h"
#include "workloads/workload.h"

using namespace ordeal;

namespace {

Campaign campaign_with(const std::string& faults, const std::string& schedule = "") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "c.yaml";
  std::ofstream(file) << "name: c\nhosts: {lab: local, names: [n1]}\ntarget: {postgres: }\n"
                         "workload: {list-append: }\ncheck: {list-append: }\n"
                      << "faults: " << faults << "\n"
                      << schedule;
  const auto campaign = load_campaign(
      file, {}, {target_catalog(), workload_catalog(), fault_catalog(), checker_catalog()});
  INFO((campaign ? "" : campaign.error().message));
  REQUIRE(campaign);
  return *campaign;
}

Terrain terrain() {
  const Path path{.from = std::string(kControlNode), .to = "n1", .address = "10.0.0.1", .port = 1};
  return {.servers = {{"n1", "db"}}, .legs = {{"client-db", {path}}}};
}

std::string refusal(const std::string& faults, const std::string& schedule = "") {
  const Status checked = check_faults(campaign_with(faults, schedule), terrain());
  if (checked) return "";
  CHECK(checked.error().kind == ErrorKind::bad_input);
  const std::string message = checked.error().message;
  const auto name = message.find("c.yaml");
  return name == std::string::npos ? message : message.substr(name);
}

}  // namespace

TEST_CASE("a dangerous fault is refused unless the campaign says that it is wanted") {
  const std::string expected =
      "c.yaml:6:10: fault dangerous-truncate destroys data for good; if that is wanted, list it "
      "among the "
      "campaign's faults, with `dangerous: true`";
  CHECK(refusal("{dangerous-truncate: }") == expected);
  CHECK(refusal("{dangerous-truncate: {dangerous: false}}") == expected);
  CHECK(refusal("{dangerous-truncate: {dangerous: true}}") == "");
  CHECK(refusal("{kill: }") == "");
  for (const FaultEntry& entry : fault_catalog()) {
    CAPTURE(entry.name);
    CHECK(entry.dangerous == entry.name.starts_with("dangerous-"));
  }
}

TEST_CASE("a written schedule does not bring in a dangerous fault") {
  const std::string schedule = "schedule:\n  steps:\n  - at 1s for 2s: dangerous-flip-bits n1\n";
  const std::string message = refusal("{kill: }", schedule);
  CHECK(message.find("fault dangerous-flip-bits destroys data for good") != std::string::npos);
  CHECK(message.find("c.yaml:9") != std::string::npos);
  CHECK(refusal("{dangerous-flip-bits: {dangerous: true}}", schedule) == "");
}

TEST_CASE("a fault of a leg that cannot be reached is refused") {
  CHECK(refusal("{bandwidth-limit: {direction: downstream}}") == "");
  CHECK(refusal("{bandwidth-limit: {direction: upstream}}")
            .starts_with("c.yaml:6:10: fault bandwidth-limit finds nothing to strike with these "
                         "settings"));
  CHECK(refusal("{latency: }", "legs: {client-db: direct}\n")
            .find("1 leg, and client-db is direct (") != std::string::npos);
  CHECK(refusal("{partition-hosts: }").starts_with("c.yaml:6:10: fault partition-hosts finds "));
}

TEST_CASE("a need that a host does not meet is refused where the fault is named") {
  const TemporaryDirectory directory;
  const auto load = [&](const std::string& faults) {
    std::ofstream(directory.path() / "c.yaml")
        << "name: c\nhosts: {lab: local, names: [n1]}\ntarget: {postgres: }\n"
           "workload: {list-append: }\n"
        << faults;
    return load_campaign(directory.path() / "c.yaml", {},
                         {target_catalog(), workload_catalog(), fault_catalog(), checker_catalog()})
        .value();
  };
  HostSpec spec;
  spec.name = "n1";
  std::vector<std::unique_ptr<Host>> hosts;
  hosts.push_back(std::make_unique<FakeHost>(spec));
  const Cluster cluster(std::move(hosts));
  const auto refused = [&](const std::string& faults) {
    const Status checked = check_needs(load(faults), cluster);
    REQUIRE_FALSE(checked);
    return checked.error().message;
  };
  CHECK(check_needs(load("faults: {kill: }\n"), cluster));
  CHECK(refused("faults: {kill: , disk-full: }\n").find("c.yaml:5:18: fault disk-full cannot") !=
        std::string::npos);
  CHECK(refused("schedule:\n  steps:\n  - at 1s: partition\n")
            .find("c.yaml:7:5: fault partition cannot") != std::string::npos);
}

TEST_CASE("what a host says that it cannot do is refused where the fault is named") {
  const std::string name = "disk-full";
  HostSpec spec;
  spec.name = "n1";
  auto fake = std::make_unique<FakeHost>(spec);
  fake->answer = [](const Command&) {
    CommandOutput output;
    output.exit_status = 1;
    output.standard_output = "it is too large\n";
    return output;
  };
  std::vector<std::unique_ptr<Host>> hosts;
  hosts.push_back(std::move(fake));
  const Cluster cluster(std::move(hosts));
  const TemporaryDirectory directory;
  std::ofstream(directory.path() / "c.yaml")
      << "name: c\nhosts: {lab: netns, names: [n1]}\ntarget: {postgres: }\n"
         "workload: {list-append: }\nfaults: {disk-full: }\n";
  const auto campaign =
      load_campaign(directory.path() / "c.yaml", {},
                    {target_catalog(), workload_catalog(), fault_catalog(), checker_catalog()});
  Battlefield field{.control_address = "",
                    .hosts = {cluster.hosts()[0]},
                    .server = [](const Host&) { return ServerControl{}; },
                    .run_id = "r"};
  field.terrain.servers = {{"n1", "db"}};
  const Status checked = check_plans(*campaign, field, cluster, {});
  REQUIRE_FALSE(checked);
  CHECK(checked.error().message == (directory.path() / "c.yaml").string() +
                                       ":5:10: fault disk-full cannot be done on host n1: it is "
                                       "too large");
}

TEST_CASE("faults that are set to strike both directions must be seen in both") {
  const auto both = [](const std::string& faults) {
    return planned_faults(campaign_with(faults), terrain(), {}).both;
  };
  CHECK(both("{partition: {direction: both}, packet-loss: , pause: }") ==
        std::vector<std::string>{"partition"});
}

TEST_CASE("times that cannot be kept are refused") {
  const std::string cap = "schedule: {outage-max: {kill: 500ms}}\n";
  CHECK(refusal("{kill: }", cap) ==
        "c.yaml:7:25: schedule: outage-max: kill is 500ms, but fault kill takes about 300ms to be "
        "seen and 500ms to be healed; expected at least 801ms");
  CHECK(refusal("{pause: }", cap) == "");
  CHECK(refusal("{packet-loss: , pause: }", "schedule: {outage-max: {client-db: 2s}}\n")
            .find("client-db is 2s, but fault packet-loss takes about") != std::string::npos);
  CHECK(refusal("{kill: }", "schedule: {duration-min: 2m, duration-max: 3m}\n") ==
        "c.yaml:7:12: schedule: duration-min is 120s, but chaos lasts 60s (`duration`)");
  CHECK(refusal("{}", "schedule: {duration-min: 2m, duration-max: 3m}\n") == "");
  const auto step = [](const std::string& text) {
    return refusal("{}", "schedule: {outage-max: {kill: 3s}, steps: [" + text + "]}\n");
  };
  CHECK(step("at 55s: pause n1") == "");
  CHECK(step("at 55s for 5s: pause n1") == "");
  CHECK(step("at 55s for 6s: pause n1").ends_with("at 55s for 6s: chaos ends at 60s"));
  CHECK(step("at 1s for 2s: kill n1") == "");
  CHECK(step("at 1s for 3s: kill n1")
            .ends_with("until fault kill is healed it takes about 3800ms, which is longer than the "
                       "outage-max of kill (3s) allows"));
}

TEST_CASE("written steps that overlap on a leg are refused where together they exceed its cap") {
  const auto steps = [](const std::string& text) {
    return refusal("{}", "schedule: {outage-max: {client-db: 5s}, steps: [" + text + "]}\n");
  };
  const std::string first = "at 1s for 2s: packet-loss";
  CHECK(steps(first + ", at 2s for 2s: partition") == "");
  CHECK(steps(first + ", at 8s for 4s: partition") == "");
  CHECK(steps(first + ", at 2s for 5s: pause n1") == "");
  const std::string late =
      "until fault partition is healed, with what overlaps it on that leg from 1s on, it takes "
      "about "
      "6900ms, which is longer than the outage-max of client-db (5s) allows";
  CHECK_THAT(steps(first + ", at 3s for 4s: partition"), Catch::EndsWith("at 3s for 4s: " + late));
  CHECK_THAT(steps("at 3s for 4s: partition, " + first), Catch::EndsWith("at 3s for 4s: " + late));
}
