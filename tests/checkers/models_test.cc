#include "checkers/cycles/models.h"

#include <algorithm>
#include <catch2/catch.hpp>

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
  CHECK(weakest_ruled_out("G-single-item-process") == Names{"strong-session-snapshot-isolation"});
  CHECK(weakest_ruled_out("G2-item-realtime") == Names{"strict-serializable"});
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

TEST_CASE("aliases mean their canonical model") {
  CHECK(canonical_model("strong-serializable") == "strict-serializable");
  CHECK(rules_out("G2-item-realtime", "strong-serializable"));
  CHECK(!rules_out("G2-item-realtime", "serializable"));
  for (const std::string_view name : model_names()) CHECK(!canonical_model(name).empty());
}

TEST_CASE("implications between anomalies") {
  CHECK(anomaly_implies("G-single-item", "G2-item-realtime"));
  CHECK(anomaly_implies("G0", "G1c-process"));
  CHECK(!anomaly_implies("G2-item", "G-single-item"));
  CHECK(anomaly_implies("G1a", "G1a"));
}

}  // namespace
}  // namespace ordeal::cycles
