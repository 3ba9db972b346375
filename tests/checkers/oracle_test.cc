// The checkers of transactions against Elle's verdicts; see tests/histories/README.md for how to
// compare.
#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "checkers/cycles/models.h"
#include "history/reader.h"
#include "tests/checkers/shorthand.h"

namespace ordeal::test {
namespace {

const std::string kFolder = "tests/histories/oracle/";

// Two reads of one key are the longest and differ, so one of the two states has to be taken for the
// key's order. Elle takes one by a hash; taking the other shows other cycles (and
// incompatible-order with either).
const std::set<std::string> kArbitraryOrder = {"list-append/lost-update-1.edn",
                                               "list-append/lost-update-37.edn"};

bool is_reported_or_implied(const std::string& type, const CheckResult& result) {
  for (const std::string& found : types_of(result)) {
    if (found == type || cycles::anomaly_implies(found, type)) return true;
  }
  return false;
}

// What Elle says when its search timed out; no class of anomalies.
bool is_search_note(const std::string& type) {
  return type.ends_with("-cycle-exists") || type == "cycle-search-timeout";
}

// Elle counts a transaction that reads a key after its last write to it as one that updates what it
// read (an internal anomaly shows the value of another transaction there).
const std::set<std::string> kReadAfterWrite = {"rw-register/ru-7.edn"};

Options::Given options_of(const nlohmann::json& row) {
  Options::Given given = {{"model", {row["model"].get<std::string>(), "test"}}};
  const nlohmann::json options = row.value("options", nlohmann::json::object());
  for (const auto& [name, value] : options.items()) {
    given[name.substr(0, name.find('?'))] = {value.dump(), "test"};
  }
  return given;
}

void compare_all(const std::string& checker, std::size_t rows_expected) {
  std::ifstream rows(kFolder + checker + "/verdicts.jsonl");
  std::string line;
  std::map<std::string, History> histories;
  std::size_t compared = 0;
  while (std::getline(rows, line)) {
    const auto row = nlohmann::json::parse(line);
    const std::string file = row["file"];
    if (!histories.contains(file)) {
      auto read = read_history(kFolder + file, "edn");
      REQUIRE(read);
      histories.emplace(file, std::move(read->history));
    }
    const CheckResult result = check(checker, histories.at(file), options_of(row));
    CAPTURE(line, result.reason);
    CHECK((result.validity == Validity::valid) == row["valid"].get<bool>());
    CHECK(result.validity != Validity::unknown);
    ++compared;
    if (kArbitraryOrder.contains(file)) continue;
    for (const std::string type : row["anomaly_types"]) {
      if (type == "lost-update" && kReadAfterWrite.contains(file)) continue;
      CAPTURE(type);
      CHECK((is_search_note(type) || is_reported_or_implied(type, result)));
    }
  }
  CHECK(compared == rows_expected);
}

TEST_CASE("verdicts on lists agree with Elle's") { compare_all("list-append", 486); }
TEST_CASE("verdicts on registers agree with Elle's") { compare_all("rw-register", 960); }

TEST_CASE("the models that Elle's anomalies rule out are the same") {
  std::ifstream rows(kFolder + "list-append/verdicts.jsonl");
  std::string line;
  while (std::getline(rows, line)) {
    const auto row = nlohmann::json::parse(line);
    std::vector<std::string> types = row["anomaly_types"];
    if (row["valid"] || std::any_of(types.begin(), types.end(), is_search_note)) continue;
    std::vector<std::string> expected;
    for (const std::string model : row["not"])
      expected.emplace_back(cycles::canonical_model(model));
    std::sort(expected.begin(), expected.end());
    CAPTURE(line);
    CHECK(cycles::boundary(types).weakest_violated == expected);
  }
}

}  // namespace
}  // namespace ordeal::test
