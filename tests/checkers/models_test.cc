#include "checkers/cycles/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>

namespace ordeal::cycles {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_CASE("each anomaly rules out the weakest models that the literature says") {
  CHECK(weakest_ruled_out("G0") == Names{"read-uncommitted"});
  CHECK(weakest_ruled_out("G1a") == Names{"read-committed"});
  CHECK(weakest_ruled_out("G1c") == Names{"read-committed"});
  CHECK(weakest_ruled_out("G-single-item") == Names{"consistent-view", "repeatable-read"});
  CHECK(weakest_ruled_out("G-nonadjacent-item") == Names{"repeatable-read", "snapshot-isolation"});
  CHECK(weakest_ruled_out("G2-item") == Names{"repeatable-read"});
  CHECK(weakest_ruled_out("lost-update") == Names{"cursor-stability", "update-atomic"});
  CHECK(weakest_ruled_out("G-single-item-process") ==
        Names{"strong-session-consistent-view", "strong-session-repeatable-read"});
  CHECK(weakest_ruled_out("G2-item-realtime") == Names{"strong-repeatable-read"});
  CHECK(weakest_ruled_out("G0-realtime") == Names{"strong-read-uncommitted"});
  CHECK(weakest_ruled_out("no such anomaly").empty());
}

TEST_CASE("what rules out a model rules out all that imply it, and leaves the rest") {
  const Boundary none = boundary({});
  CHECK(none.all_violated.empty());
  CHECK(none.strongest_possible == Names{"strict-serializable"});

  const Names skew = {"G2-item"};
  const Boundary found = boundary(skew);
  CHECK(found.weakest_violated == Names{"repeatable-read"});
  CHECK(contains(found.all_violated, "strict-serializable"));
  CHECK(!contains(found.all_violated, "snapshot-isolation"));
  CHECK(contains(found.strongest_possible, "strong-snapshot-isolation"));
}

Names forms_of(const std::string& model) {
  Names forms;
  for (const ModelInfo& info : models()) {
    if (info.form_of == model) forms.push_back(info.name);
  }
  return forms;
}

const std::string kOrders[] = {"-process", "-realtime"};

TEST_CASE("each model of transactions has a strong-session and a strong form, others have none") {
  for (const ModelInfo& model : models()) {
    if (!model.form_of.empty()) continue;
    CAPTURE(model.name);
    CHECK(forms_of(model.name).size() == (is_of_single_keys(model.name) ? 0 : 2));
  }
  CHECK(forms_of("serializable") == Names{"strong-session-serializable", "strict-serializable"});
  CHECK(contains(forms_of("causal-cerone"), "strong-causal-cerone"));
}

TEST_CASE("each model stands after those that it implies, and all names are known") {
  Names before, types;
  for (const AnomalyInfo& anomaly : anomalies()) types.push_back(anomaly.name);
  for (const ModelInfo& model : models()) {
    CAPTURE(model.name);
    for (const std::string& name : model.implies) CHECK(contains(before, name));
    for (const std::string& name : model.forbids) CHECK(contains(types, name));
    CHECK(!contains(before, model.name));
    before.push_back(model.name);
  }
  for (const AnomalyInfo& anomaly : anomalies()) {
    for (const std::string& name : anomaly.implies) CHECK(contains(types, name));
  }
  const auto names = model_names();
  CHECK(std::set<std::string_view>(names.begin(), names.end()).size() == names.size());
}

TEST_CASE("a form rules out what its model does, and the same cycles with its order") {
  for (const ModelInfo& model : models()) {
    const Names forms = forms_of(model.name);
    if (forms.empty()) continue;
    for (const AnomalyInfo& anomaly : anomalies()) {
      const bool is_plain =
          !anomaly.name.ends_with(kOrders[0]) && !anomaly.name.ends_with(kOrders[1]);
      const bool is_cycle = is_plain && anomaly.name.starts_with("G") && anomaly.name != "G1a" &&
                            anomaly.name != "G1b" && anomaly.name != "garbage-read";
      if (!is_cycle) continue;
      CAPTURE(model.name, anomaly.name);
      const bool forbidden = rules_out(anomaly.name, model.name);
      const bool with_session[] = {rules_out(anomaly.name + kOrders[0], model.name),
                                   rules_out(anomaly.name + kOrders[0], forms[0]),
                                   rules_out(anomaly.name + kOrders[0], forms[1])};
      const bool with_time[] = {rules_out(anomaly.name + kOrders[1], forms[0]),
                                rules_out(anomaly.name + kOrders[1], forms[1])};
      CHECK(!with_session[0]);
      CHECK(with_session[1] == forbidden);
      CHECK(with_session[2] == forbidden);
      CHECK(!with_time[0]);
      CHECK(with_time[1] == forbidden);
    }
  }
}

TEST_CASE("forms imply one another as their models do, and session guarantees") {
  const Boundary session = boundary(Names{"G-single-item-process"});
  for (const char* model : {"strong-session-consistent-view", "strong-session-repeatable-read",
                            "strong-session-update-serializable", "strong-snapshot-isolation"}) {
    CHECK(contains(session.all_violated, model));
  }
  for (const char* model : {"strong-session-parallel-snapshot-isolation", "serializable"}) {
    CHECK(!contains(session.all_violated, model));
  }
  // Snapshot isolation implies the parallel one, and so do their forms.
  CHECK(rules_out("MRWD", "strong-session-parallel-snapshot-isolation"));
  CHECK(rules_out("N-MR", "strong-session-consistent-view"));
  CHECK(!rules_out("N-MR", "strong-session-prefix"));
  CHECK(rules_out("non-linearizable-key", "strong-repeatable-read"));
  CHECK(!rules_out("non-linearizable-key", "strong-prefix"));
  CHECK(!rules_out("non-linearizable-key", "strong-session-serializable"));
}

TEST_CASE("what rules out weaker models is more severe, and needs neither sessions nor clocks") {
  Names names = {"G2-item-realtime", "G0-process",  "G2-item",    "bank's own", "G1c", "G0",
                 "G-single-item",    "G0-realtime", "lost-update"};
  std::stable_sort(names.begin(), names.end(), more_severe);
  CHECK(names == Names{"G0", "G1c", "lost-update", "G-single-item", "G2-item", "G0-process",
                       "G0-realtime", "G2-item-realtime", "bank's own"});
}

TEST_CASE("aliases mean their canonical model") {
  CHECK(canonical_model("strong-serializable") == "strict-serializable");
  CHECK(rules_out("G2-item-realtime", "strong-serializable"));
  CHECK(!rules_out("G2-item-realtime", "serializable"));
  CHECK(canonical_model("strong-session-causal") == "strong-session-causal-cerone");
  CHECK(canonical_model("strong-PL-3") == "strict-serializable");
  for (const std::string_view name : model_names()) CHECK(!canonical_model(name).empty());
}

TEST_CASE("implications between anomalies") {
  CHECK(anomaly_implies("G-single-item", "G2-item-realtime"));
  CHECK(anomaly_implies("G0", "G1c-process"));
  CHECK(!anomaly_implies("G2-item", "G-single-item"));
  CHECK(anomaly_implies("G1a", "G1a"));
}

std::string quoted(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "`" : ", `") + name + "`";
  return text;
}

// Rows of the tables in docs/models.md.
std::string rows_of_models() {
  std::string rows;
  for (const ModelInfo& model : models()) {
    if (!model.form_of.empty()) continue;
    rows += fmt::format("| {} | {} | {} | {} | {} |\n", quoted({model.name}), quoted(model.aliases),
                        quoted(model.implies), quoted(model.forbids), model.source);
  }
  return rows;
}

std::string rows_of_anomalies() {
  std::string rows;
  for (const AnomalyInfo& anomaly : anomalies()) {
    rows += fmt::format("| {} | {} | {} |\n", quoted({anomaly.name}), quoted(anomaly.implies),
                        quoted(weakest_ruled_out(anomaly.name)));
  }
  return rows;
}

TEST_CASE("docs/models.md has the tables as they are") {
  std::ifstream file("docs/models.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const std::string& rows : {rows_of_models(), rows_of_anomalies()}) {
    INFO("expected, also for pasting:\n" << rows);
    CHECK(page.find("|\n" + rows + "\n") != std::string::npos);
  }
}

}  // namespace
}  // namespace ordeal::cycles
