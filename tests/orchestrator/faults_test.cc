// Which faults a campaign may have on which terrain.
#include "orchestrator/faults.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_directory.h"
#include "workloads/workload.h"

using namespace ordeal;

namespace {

std::string refusal(const std::string& faults, const std::string& schedule = "") {
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
  const Path path{.from = std::string(kControlNode), .to = "n1", .address = "10.0.0.1", .port = 1};
  const Status checked =
      check_faults(*campaign, {.servers = {{"n1", "db"}}, .legs = {{"client-db", {path}}}});
  if (checked) return "";
  CHECK(checked.error().kind == ErrorKind::bad_input);
  return checked.error().message;
}

}  // namespace

TEST_CASE("a dangerous fault is refused unless the campaign says that it is wanted") {
  const std::string expected =
      "fault dangerous-truncate destroys data for good; if that is wanted, list it among the "
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
            .starts_with("fault bandwidth-limit finds nothing to strike with these settings"));
}
