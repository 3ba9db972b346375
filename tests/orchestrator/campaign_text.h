// What tests of campaign files share: a good one, ways to change it, and what loading it says.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "orchestrator/campaign.h"
#include "tests/support/temporary_directory.h"

namespace ordeal {

inline constexpr const char* kGood = R"(name: good
hosts: {lab: local, names: [n1]}
target:
  postgres: {settings: {fsync: off}}
workload:
  list-append: {isolation: read-committed}
workers: 3
faults:
  kill:
  pause:
check:
  list-append: {model: snapshot-isolation}
scenarios:
  calm:
    faults: {}
    workers: 1
)";

inline Result<Campaign> load(const std::string& text, const CampaignChanges& changes = {}) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "c.yaml";
  std::ofstream(file) << text;
  auto campaign = load_campaign(
      file, changes, {target_catalog(), workload_catalog(), fault_catalog(), checker_catalog()});
  if (campaign) return campaign;
  Error error = campaign.error();  // without the directory, which differs each time
  for (auto at = error.message.find(directory.path().string()); at != std::string::npos;
       at = error.message.find(directory.path().string())) {
    error.message.erase(at, directory.path().string().size() + 1);
  }
  return tl::unexpected(error);
}

inline std::string error_of(const std::string& text, const CampaignChanges& changes = {}) {
  const auto campaign = load(text, changes);
  REQUIRE_FALSE(campaign);
  REQUIRE(campaign.error().kind == ErrorKind::bad_input);
  return campaign.error().message;
}

inline std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace ordeal
