#include "checkers/rw_register.h"

#include <catch2/catch.hpp>

#include "tests/checkers/shorthand.h"

namespace ordeal {
namespace {

using test::begin;
using test::concurrent;
using test::end;
using test::fail;
using test::history;
using test::info;
using test::ok;
using test::types_of;
using Names = std::vector<std::string>;

CheckResult check(const History& history, const std::string& model = "strict-serializable",
                  const std::string& assumption = "") {
  Options::Given given = {{"model", {model, "test"}}};
  if (!assumption.empty()) given[assumption] = {"true", "test"};
  return test::check("rw-register", history, given);
}

Names types(const History& history, const std::string& assumption = "") {
  return types_of(check(history, "strict-serializable", assumption));
}

const Anomaly& only(const CheckResult& result, const std::string& type) {
  for (const Anomaly& anomaly : result.anomalies) {
    if (anomaly.type == type) return anomaly;
  }
  throw std::runtime_error("not found: " + type);
}

TEST_CASE("registers: a serial history is valid under every assumption") {
  const auto serial = history({ok(0, "gx wx1 gx1"), ok(1, "gx1 wx2"), ok(0, "gx2 wy1 wy2"),
                               ok(1, "gy2"), fail(1, "wy3"), ok(2, "gy2 gz")});
  for (const std::string assumption : {"", "wfr-keys", "sequential-keys", "linearizable-keys"}) {
    const CheckResult result = check(serial, "strict-serializable", assumption);
    CHECK(result.validity == Validity::valid);
    CHECK(result.anomaly_counts.empty());
    CHECK(result.strongest_possible == Names{"strict-serializable"});
  }
}

TEST_CASE("registers: nothing committed is unknown, and so are lists, nil and repeated values") {
  CHECK(check(history({})).validity == Validity::unknown);
  CHECK(check(history({fail(0, "wx1"), info(1, "wx2")})).validity == Validity::unknown);
  const CheckResult lists = check(history({ok(0, "ax1")}));
  CHECK(lists.validity == Validity::unknown);
  CHECK(lists.reason.find("needs reads and writes of registers") != std::string::npos);
  const CheckResult twice = check(history({ok(0, "wx1"), ok(1, "wx1"), ok(2, "gx1")}));
  CHECK(twice.validity == Validity::unknown);
  CHECK(twice.reason.find("must be unique") != std::string::npos);
  // A write that failed, and was tried again, is written once.
  CHECK(check(history({fail(0, "wx1"), ok(1, "wx1"), ok(2, "gx1")})).validity == Validity::valid);
}

TEST_CASE("registers: internal and future-read") {
  CHECK(types(concurrent({"gx1 gx2", "wx1", "wx2"})) == Names{"internal"});
  CHECK(types(concurrent({"wx1 gx2", "wx2"})) == Names{"internal"});
  CHECK(types(concurrent({"gx1 wx1"})) == Names{"future-read"});
}

TEST_CASE("registers: G1a, with what was built on it") {
  const auto read = history({fail(0, "wx1"), ok(1, "gx1")});
  CHECK(types(read) == Names{"G1a"});
  CHECK(check(read, "read-uncommitted").validity == Validity::valid);
  CHECK(check(read, "read-committed").validity == Validity::invalid);
  CHECK(types(history({fail(0, "wx1"), ok(1, "gx1 wx2")})) == Names{"G1a", "dirty-update"});
}

TEST_CASE("registers: G1b, also in a later read") {
  CHECK(types(concurrent({"wx1 wx2", "gx1"})) == Names{"G1b"});
  CHECK(types(concurrent({"wx1 wx2", "gx1 gx2"})) == Names{"G1b", "internal"});
}

TEST_CASE("registers: a value that nobody wrote") {
  const CheckResult result = check(history({ok(0, "wx1"), ok(1, "gx7")}));
  CHECK(types_of(result) == Names{"garbage-read"});
  CHECK(only(result, "garbage-read").explanation.find("which nobody wrote") != std::string::npos);
}

TEST_CASE("registers: a value that was written as another type gets a hint") {
  HistoryBuilder builder;
  std::uint64_t index = 0;
  for (const bool write : {true, false}) {
    for (const Phase phase : {Phase::invoke, Phase::ok}) {
      const Value value = write ? Value(1) : phase == Phase::ok ? Value::symbol("\"1\"") : Value();
      const auto function = write ? MicroFunction::write : MicroFunction::read;
      builder.add({index++,
                   {},
                   ProcessId{0},
                   phase,
                   "txn",
                   Txn{{{function, Value::symbol(":x"), value, {}}}},
                   ""});
    }
  }
  const CheckResult result = check(std::move(builder).build());
  CHECK(only(result, "garbage-read").explanation.find("nobody wrote; 1 was (values of mixed") !=
        std::string::npos);
}

TEST_CASE("registers: lost update, by the versions that were read") {
  const CheckResult result = check(concurrent({"gx wx1", "gx wx2"}), "snapshot-isolation");
  CHECK(types_of(result) == Names{"G2-item", "lost-update"});
  CHECK(result.anomaly_types == Names{"lost-update"});
  CHECK(only(result, "lost-update").operations.size() == 2);
}

TEST_CASE("registers: G0 needs version orders") {
  // Session order on each key says 1 before 2 in x and 2 before 1 in y.
  const auto crossed =
      history({begin(0, "wx1 wy1"), begin(1, "wx2 wy2"), end(0, "wx1 wy1"), end(1, "wx2 wy2"),
               begin(2, "gx1"), end(2, "gx1"), ok(2, "gx2"), ok(3, "gy2"), ok(3, "gy1")});
  const Names found = types(crossed, "sequential-keys");
  CHECK(std::count(found.begin(), found.end(), "G0") == 1);
  const CheckResult blind = check(crossed, "serializable");
  CHECK(blind.validity == Validity::valid);
}

TEST_CASE("registers: G1c, circular information flow") {
  CHECK(types(concurrent({"wx1 gy1", "wy1 gx1"})) == Names{"G1c"});
}

TEST_CASE("registers: G-single-item, read skew") {
  const CheckResult result = check(concurrent({"wx1 wy1", "gx gy1"}), "serializable");
  CHECK(types_of(result) == Names{"G-single-item"});
  const Anomaly& skew = only(result, "G-single-item");
  REQUIRE(skew.steps.size() == 2);
  CHECK(skew.explanation.find("T1 read T2's write of 1 to :y") != std::string::npos);
  CHECK(skew.explanation.find("T1 read the initial (nil) state of :x, which T2's write of 1") !=
        std::string::npos);
  CHECK(skew.explanation.find(": a contradiction!\n\nOne of them missed a write") !=
        std::string::npos);
}

TEST_CASE("registers: G2-item, write skew; fine under snapshots") {
  const auto skew = concurrent({"gx wy1", "gy wx1"});
  CHECK(types(skew) == Names{"G2-item"});
  CHECK(check(skew, "serializable").validity == Validity::invalid);
  CHECK(check(skew, "snapshot-isolation").validity == Validity::valid);
}

TEST_CASE("registers: G-nonadjacent-item, a long fork") {
  const auto fork = concurrent({"wx1", "wy1", "gx1 gy", "gx gy1"});
  CHECK(types(fork) == Names{"G-nonadjacent-item"});
  CHECK(check(fork, "snapshot-isolation").validity == Validity::invalid);
  CHECK(check(fork, "parallel-snapshot-isolation").validity == Validity::valid);
}

TEST_CASE("registers: stale reads, in a session and in real time") {
  CHECK(types(history({ok(0, "wx1"), ok(0, "gx")})) == Names{"G-single-item-process"});
  const auto stale = history({ok(0, "wx1"), ok(1, "gx")});
  CHECK(types(stale) == Names{"G-single-item-realtime"});
  CHECK(check(stale, "serializable").validity == Validity::valid);
}

TEST_CASE("registers: each assumption orders versions, and is held to it") {
  // T2 read 1 and wrote 2: with wfr-keys 1 comes before 2, so who reads 1 after 2 reads the past.
  const auto past = history({ok(0, "wx1"), ok(1, "gx1 wx2"), ok(2, "gx1")});
  CHECK(types(past).empty());
  CHECK(types(past, "wfr-keys") == Names{"G-single-item-realtime"});
  const auto circle = concurrent({"gx1 wx2", "gx2 wx1"});
  CHECK(types(circle, "wfr-keys") == Names{"G1c", "cyclic-versions"});
  CHECK(types(history({ok(0, "wx1"), ok(1, "wx2"), ok(2, "gx1")}), "linearizable-keys") ==
        Names{"cyclic-versions"});
  CHECK(types(history({ok(0, "wx1"), ok(0, "wx2"), ok(0, "gx1")}), "sequential-keys") ==
        Names{"cyclic-versions"});
}

TEST_CASE("registers: cyclic versions name those who wrote them") {
  const auto past = history({ok(0, "wx1"), ok(1, "wx2"), ok(2, "gx1")});
  const CheckResult result =
      test::check("rw-register", past, {{"linearizable-keys", {"true", "test"}}});
  REQUIRE(result.anomalies.size() == 1);
  const Anomaly& circle = result.anomalies.front();
  CHECK(circle.operations == std::vector<std::uint64_t>{1, 3});
  CHECK(circle.values == std::vector<Value>{Value(1), Value(2)});
  CHECK(circle.explanation.find("they were written by {:index 1, ") != std::string::npos);
}

TEST_CASE("registers: an info transaction counts once a write of it was read") {
  CHECK(types(history({info(0, "wx1 wy1"), ok(1, "gx1 gy")})) == Names{"G-single-item"});
  CHECK(types(history({info(0, "wx1 wy1"), ok(1, "gx gy")})).empty());
}

std::vector<std::uint64_t> certificate(const History& history) {
  const CheckResult result =
      test::check("rw-register", history,
                  {{"model", {"serializable", "test"}}, {"certificate", {"true", "test"}}});
  std::vector<std::uint64_t> order;
  for (const CertificateLine& line : result.certificate) order.push_back(line.operation);
  return order;
}

TEST_CASE("registers: a valid verdict is proved by a serial order") {
  // Indexes of completions: 3, 4, 5. Who read the old value comes before who replaces it.
  CHECK(certificate(concurrent({"gx wy1", "wx1", "gy1 gx1"})) ==
        std::vector<std::uint64_t>{3, 4, 5});
  CHECK(certificate(concurrent({"wx2", "wx1", "gx1 wy1", "gy1 gx2"})).size() == 4);
  CHECK(certificate(history({info(0, "wx1"), info(1, "wy1"), ok(2, "gx1")})) ==
        std::vector<std::uint64_t>{0, 5});
}

TEST_CASE("registers: no certificate of what is not serial") {
  CHECK(certificate(concurrent({"gx wy1", "gy wx1"})).empty());
}

TEST_CASE("registers: models of single keys are not known to hold, and say why") {
  const auto missed = history({ok(0, "wx1"), ok(0, "gx")});
  for (const std::string model : {"read-your-writes", "PRAM", "per-key-linearizable"}) {
    const CheckResult result = check(missed, model);
    CHECK(result.validity == Validity::unknown);
    CHECK(result.reason.find("registers do not show the order") == 0);
  }
}

}  // namespace
}  // namespace ordeal
