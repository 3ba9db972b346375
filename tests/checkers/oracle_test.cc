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

using Models = std::set<std::string>;

Models canonical(const nlohmann::json& row, const char* member) {
  Models models;
  for (const std::string name : row.value(member, nlohmann::json::array())) {
    models.emplace(cycles::canonical_model(name));
  }
  return models;
}

Models ruled_out_by_elle(const nlohmann::json& row) {
  Models models = canonical(row, "not");
  models.merge(canonical(row, "also_not"));
  return models;
}

std::vector<nlohmann::json> list_append_rows() {
  std::ifstream file(kFolder + "list-append/verdicts.jsonl");
  std::vector<nlohmann::json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

bool implies(const std::string& stronger, const std::string& weaker) {
  const auto all = cycles::models();
  const auto model = std::find_if(all.begin(), all.end(),
                                  [&](const auto& known) { return known.name == stronger; });
  return std::any_of(model->implies.begin(), model->implies.end(), [&](const std::string& name) {
    return name == weaker || implies(name, weaker);
  });
}

Models weakest(const Models& models) {
  Models found;
  for (const std::string& model : models) {
    const bool is_weakest = std::none_of(models.begin(), models.end(),
                                         [&](const auto& other) { return implies(model, other); });
    if (is_weakest) found.insert(model);
  }
  return found;
}

// Elle has stronger forms of four models only, and no session guarantees.
Models known_to_elle() {
  const Models with_forms = {"read-uncommitted", "read-committed", "snapshot-isolation",
                             "serializable"};
  Models known;
  for (const cycles::ModelInfo& model : cycles::models()) {
    if (cycles::is_of_single_keys(model.name)) continue;
    if (model.form_of.empty() || with_forms.contains(model.form_of)) known.insert(model.name);
  }
  return known;
}

// What is ruled out is compared among the models that Elle knows: `not` has the weakest of them,
// `also_not` those that follow (in the copy of this repository, rows lack it).
TEST_CASE("of the models that Elle knows, its anomalies rule out the same") {
  const Models known = known_to_elle();
  CHECK(known.size() == 25);
  std::size_t compared = 0;
  for (const auto& row : list_append_rows()) {
    const std::vector<std::string> types = row["anomaly_types"];
    if (row["valid"] || std::any_of(types.begin(), types.end(), is_search_note)) continue;
    Models found;
    for (const std::string& model : cycles::boundary(types).all_violated) {
      if (known.contains(model)) found.insert(model);
    }
    CAPTURE(row.dump());
    CHECK(weakest(found) == canonical(row, "not"));
    if (row.contains("also_not")) CHECK(found == ruled_out_by_elle(row));
    ++compared;
  }
  CHECK(compared > 100);
}

}  // namespace
}  // namespace ordeal::test
