// The documentation names the faults that there are.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <regex>

#include "nemesis/nemesis.h"

namespace ordeal {
namespace {

// The rows of the table in docs/faults.md by their fault: what it strikes, and its settings.
std::map<std::string, std::string> documented() {
  std::ifstream file("docs/faults.md");
  std::map<std::string, std::string> rows;
  const std::regex row(R"(\| `([a-z-]+)` \|(.*)\|)");
  std::smatch found;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, found, row)) rows[found[1]] = found[2];
  }
  return rows;
}

TEST_CASE("docs/faults.md has each fault, what it strikes, and its settings") {
  const auto rows = documented();
  CHECK(rows.size() == fault_catalog().size());
  for (const FaultEntry& entry : fault_catalog()) {
    CAPTURE(entry.name);
    const auto row = rows.find(std::string(entry.name));
    REQUIRE(row != rows.end());
    const bool legs = entry.strikes == Strikes::legs;
    CHECK(row->second.starts_with(legs ? " legs |" : " servers |"));
    for (const OptionSpec& option : entry.options) {
      CAPTURE(option.name);
      const bool shared = option.name == "hosts" || option.name == "role" ||
                          option.name == "legs" || option.name == "direction";
      CHECK(
          (shared || row->second.find("`" + std::string(option.name) + "`") != std::string::npos));
    }
  }
}

}  // namespace
}  // namespace ordeal
