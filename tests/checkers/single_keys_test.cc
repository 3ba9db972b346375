// Session guarantees and linearizability of single keys: each kept and each broken.
#include <catch2/catch.hpp>

#include "checkers/cycles/models.h"
#include "tests/checkers/shorthand.h"

namespace ordeal {
namespace {

using test::begin;
using test::check_append;
using test::end;
using test::fail;
using test::history;
using test::info;
using test::ok;
using Names = std::vector<std::string>;

// Those that are about single keys, by the models that they break.
Names found(const History& history) {
  Names names;
  for (const std::string model : {"monotonic-reads", "monotonic-writes", "per-key-linearizable",
                                  "read-your-writes", "writes-follow-reads"}) {
    const CheckResult result = check_append(history, model);
    names.insert(names.end(), result.anomaly_types.begin(), result.anomaly_types.end());
    for (const std::string& type : result.anomaly_types) {
      CHECK(cycles::rules_out(type, model));
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Validity verdict(const History& history, const std::string& model) {
  return check_append(history, model).validity;
}

TEST_CASE("non-monotonic reads") {
  const auto back = history({begin(9, "ax1"), ok(0, "rx1"), ok(0, "rx[]"), end(9, "ax1")});
  CHECK(found(back) == Names{"N-MR", "non-linearizable-key"});
  CHECK(verdict(back, "monotonic-reads") == Validity::invalid);
  CHECK(verdict(back, "PRAM") == Validity::invalid);
  CHECK(verdict(back, "read-your-writes") == Validity::valid);
  CHECK(verdict(back, "serializable") == Validity::valid);
  CHECK(verdict(back, "strong-session-serializable") == Validity::invalid);
  // Two sessions may see the two states in any order, as long as real time is nobody's promise.
  const auto apart = history({begin(9, "ax1"), ok(0, "rx1"), ok(1, "rx[]"), end(9, "ax1")});
  CHECK(found(apart) == Names{"non-linearizable-key"});
  CHECK(verdict(apart, "monotonic-reads") == Validity::valid);
}

TEST_CASE("missing your writes") {
  const auto missed = history({ok(0, "ax1"), ok(0, "rx[]"), ok(1, "rx1")});
  CHECK(found(missed) == Names{"MYR", "non-linearizable-key"});
  CHECK(verdict(missed, "read-your-writes") == Validity::invalid);
  CHECK(verdict(missed, "monotonic-reads") == Validity::valid);
  // An append that nobody ever read was missed all the same.
  CHECK(found(history({ok(0, "ax1"), ok(0, "rx[]")})) == Names{"MYR", "non-linearizable-key"});
}

TEST_CASE("non-monotonic writes") {
  const auto swapped = history({ok(0, "ax1"), ok(0, "ax2"), ok(1, "rx21")});
  CHECK(found(swapped) == Names{"N-MW", "non-linearizable-key"});
  CHECK(verdict(swapped, "monotonic-writes") == Validity::invalid);
  CHECK(verdict(swapped, "writes-follow-reads") == Validity::valid);
  CHECK(verdict(swapped, "read-committed") == Validity::valid);
  CHECK(verdict(swapped, "strong-session-read-uncommitted") == Validity::invalid);
}

TEST_CASE("a write that does not follow the session's reads") {
  const auto before =
      history({begin(9, "ax1"), ok(0, "rx1"), ok(0, "ax2"), end(9, "ax1"), ok(1, "rx21")});
  const Names types = found(before);
  CHECK(types == Names{"MRWD", "non-linearizable-key"});
  CHECK(verdict(before, "writes-follow-reads") == Validity::invalid);
  CHECK(verdict(before, "PRAM") == Validity::valid);
}

TEST_CASE("a key that is linearizable while transactions are not") {
  // Each key is up to date; x and y are of different moments.
  const auto skew = history(
      {begin(0, "rx[] ry1"), ok(1, "ax1"), ok(2, "ay1"), end(0, "rx[] ry1"), ok(3, "rx1 ry1")});
  CHECK(found(skew).empty());
  CHECK(verdict(skew, "per-key-linearizable") == Validity::valid);
  CHECK(verdict(skew, "strict-serializable") == Validity::invalid);
}

TEST_CASE("an append whose outcome is open is nobody's past") {
  CHECK(found(history({info(0, "ax1"), ok(1, "rx[]"), ok(1, "rx1")})).empty());
  CHECK(found(history({info(0, "ax1"), ok(1, "rx1"), ok(2, "rx[]")})) ==
        Names{"non-linearizable-key"});
}

TEST_CASE("an observed info transaction follows its session, and behind a failed append") {
  CHECK(found(history({begin(9, "ay2"), ok(0, "ry12"), info(0, "ay1"), end(9, "ay2")})) ==
        Names{"MRWD", "non-linearizable-key"});
  // What was read ends in an append that failed: the one before it was read all the same.
  CHECK(found(history({begin(9, "ax3"), ok(0, "rx23"), end(9, "ax3", Phase::fail),
                       ok(1, "ax2")})) == Names{"non-linearizable-key"});
}

TEST_CASE("a key that shows what never was is not linearizable") {
  for (const auto& history : {history({fail(0, "ax1"), ok(1, "rx1")}), history({ok(0, "rx7")}),
                              history({ok(0, "ax1"), ok(1, "rx11")}), history({ok(0, "rx1 ax1")}),
                              history({ok(0, "ax1"), ok(1, "rx1 rx[]")})}) {
    CHECK(verdict(history, "per-key-linearizable") == Validity::invalid);
  }
}

TEST_CASE("where a cycle breaks the model, single keys are not told of, but count") {
  const CheckResult stale = check_append(history({ok(0, "ax1"), ok(0, "rx[]"), ok(1, "rx1")}));
  CHECK(stale.anomaly_types == Names{"G-single-item-process"});
  const Names& violated = stale.all_violated;
  CHECK(std::count(violated.begin(), violated.end(), "read-your-writes") == 1);
  CHECK(std::count(violated.begin(), violated.end(), "per-key-linearizable") == 1);
  CHECK(std::count(violated.begin(), violated.end(), "monotonic-reads") == 0);
}

TEST_CASE("what the explanation of a single key names") {
  const CheckResult result =
      check_append(history({ok(0, "ax1"), ok(0, "ax2"), ok(1, "rx21")}), "monotonic-writes");
  for (const Anomaly& anomaly : result.anomalies) {
    if (anomaly.type != "N-MW") continue;
    CHECK(anomaly.operations == std::vector<std::uint64_t>{1, 3});
    CHECK(anomaly.models_violated == Names{"monotonic-writes"});
    CHECK(anomaly.explanation.find("wrote before what its session had written in") !=
          std::string::npos);
    return;
  }
  FAIL("no N-MW");
}

}  // namespace
}  // namespace ordeal
