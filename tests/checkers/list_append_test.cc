#include "checkers/list_append.h"

#include <catch2/catch.hpp>

#include "tests/checkers/shorthand.h"

namespace ordeal {
namespace {

using test::begin;
using test::check_append;
using test::concurrent;
using test::end;
using test::fail;
using test::history;
using test::info;
using test::ok;
using test::types_of;
using Names = std::vector<std::string>;

std::vector<std::string> edges_of(const Anomaly& anomaly) {
  std::vector<std::string> edges;
  for (const Step& step : anomaly.steps) edges.push_back(step.edge);
  return edges;
}

// Each cycle closes, and every step has its words.
void require_closed(const Anomaly& anomaly) {
  REQUIRE(anomaly.steps.size() >= 2);
  for (std::size_t at = 0; at < anomaly.steps.size(); ++at) {
    CHECK(anomaly.steps[at].to == anomaly.steps[(at + 1) % anomaly.steps.size()].from);
    CHECK(!anomaly.steps[at].explanation.empty());
  }
  CHECK(anomaly.explanation.find(": a contradiction!\n\n") != std::string::npos);
  CHECK(anomaly.explanation.ends_with('.'));
}

TEST_CASE("a serial history is valid under every model") {
  const auto serial =
      history({ok(0, "ax1 rx1"), ok(1, "rx1 ax2"), ok(0, "rx12 ay1"), ok(1, "ry1")});
  for (const std::string model :
       {"read-uncommitted", "snapshot-isolation", "strict-serializable"}) {
    const CheckResult result = check_append(serial, model);
    CHECK(result.validity == Validity::valid);
    CHECK(result.anomaly_counts.empty());
    CHECK(result.strongest_possible == Names{"strict-serializable"});
    CHECK(result.transactions.ok == 4);
  }
}

TEST_CASE("nothing committed is unknown, and so is an empty history") {
  CHECK(check_append(history({})).validity == Validity::unknown);
  const CheckResult result = check_append(history({fail(0, "ax1"), info(1, "ax2")}));
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason.find("committed") != std::string::npos);
}

TEST_CASE("a write skew is G2-item: serializable rules it out, snapshot isolation does not") {
  const auto skew = concurrent({"rx[] ay1", "ry[] ax1", "rx1 ry1"});
  const CheckResult serializable = check_append(skew, "serializable");
  CHECK(serializable.validity == Validity::invalid);
  CHECK(serializable.anomaly_types == Names{"G2-item"});
  REQUIRE(serializable.anomalies.size() == 1);
  require_closed(serializable.anomalies[0]);
  CHECK(edges_of(serializable.anomalies[0]) == Names{"rw", "rw"});
  CHECK(serializable.anomalies[0].models_violated == Names{"repeatable-read"});
  CHECK(serializable.weakest_violated == Names{"repeatable-read"});

  const CheckResult snapshot = check_append(skew, "snapshot-isolation");
  CHECK(snapshot.validity == Validity::valid);
  CHECK(snapshot.anomaly_types.empty());
  CHECK(snapshot.anomaly_types_beyond == Names{"G2-item"});
}

TEST_CASE("the explanation names the transactions, the steps and the contradiction") {
  const CheckResult result =
      check_append(concurrent({"rx[] ay1", "ry[] ax1", "rx1 ry1"}), "serializable");
  REQUIRE(result.anomalies.size() == 1);
  CHECK(result.anomalies[0].explanation ==
        "Let:\n"
        "  T1 = {:index 3, :process 0, :type :ok, :value [[:r :x []] [:append :y 1]]}\n"
        "  T2 = {:index 4, :process 1, :type :ok, :value [[:r :y []] [:append :x 1]]}\n"
        "\n"
        "Then:\n"
        "  - T1 < T2, because T1 observed the initial (nil) state of :x, which T2 created by "
        "appending 1.\n"
        "  - However, T2 < T1, because T2 observed the initial (nil) state of :y, which T1 created "
        "by appending 1: "
        "a contradiction!\n\nEach order of them lets one see a write that it missed.");
}

TEST_CASE("G0: two keys whose appends are in opposite orders") {
  const CheckResult result =
      check_append(concurrent({"ax1 ay1", "ax2 ay2", "rx12 ry21"}), "read-uncommitted");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"G0"});
  REQUIRE(!result.anomalies.empty());
  require_closed(result.anomalies[0]);
  CHECK(edges_of(result.anomalies[0]) == Names{"ww", "ww"});
  CHECK(result.anomalies[0].steps[0].explanation == "T2 appended 2 after T1 appended 1 to :x");
}

TEST_CASE("G1c: two transactions that observe each other") {
  const CheckResult result = check_append(concurrent({"ax1 ry1", "ay1 rx1"}), "read-committed");
  CHECK(result.anomaly_types == Names{"G1c"});
  REQUIRE(!result.anomalies.empty());
  CHECK(edges_of(result.anomalies[0]) == Names{"wr", "wr"});
  CHECK(result.anomalies[0].steps[0].explanation == "T2 observed T1's append of 1 to key :x");
  CHECK(check_append(concurrent({"ax1 ry1", "ay1 rx1"}), "read-uncommitted").validity ==
        Validity::valid);
}

TEST_CASE("G-single-item: a read skew") {
  const auto skew = concurrent({"ax1 ay1", "rx[] ry1", "rx1"});
  const CheckResult result = check_append(skew, "snapshot-isolation");
  CHECK(result.anomaly_types == Names{"G-single-item"});
  REQUIRE(!result.anomalies.empty());
  require_closed(result.anomalies[0]);
  CHECK(edges_of(result.anomalies[0]) == Names{"rw", "wr"});
  CHECK(result.weakest_violated == Names{"consistent-view", "repeatable-read"});
  CHECK(check_append(skew, "read-committed").validity == Validity::valid);
}

TEST_CASE("an rw step names the append that was not observed") {
  const CheckResult result =
      check_append(concurrent({"ax1", "ax2 ay1", "rx1 ry1", "rx12"}), "serializable");
  REQUIRE(!result.anomalies.empty());
  CHECK(result.anomalies[0].steps[0].explanation == "T1 did not observe T2's append of 2 to :x");
  CHECK(result.anomalies[0].steps[0].value == Value(1));
  CHECK(result.anomalies[0].steps[0].next_value == Value(2));
}

TEST_CASE("G-nonadjacent-item: a long fork") {
  const auto fork = concurrent({"ax1", "ay1", "rx1 ry[]", "rx[] ry1", "rx1 ry1"});
  const CheckResult result = check_append(fork, "snapshot-isolation");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"G-nonadjacent-item"});
  REQUIRE(!result.anomalies.empty());
  require_closed(result.anomalies[0]);
  CHECK(edges_of(result.anomalies[0]) == Names{"rw", "wr", "rw", "wr"});
  CHECK(check_append(fork, "parallel-snapshot-isolation").validity == Validity::valid);
}

TEST_CASE("classes with session order") {
  SECTION("G0-process") {
    const auto sample = history({begin(1, "ax2 ay1"), ok(0, "ax1"), ok(0, "ay2"), end(1, "ax2 ay1"),
                                 begin(2, "rx21 ry21"), end(2, "rx21 ry21")});
    // x: 2 then 1, y: 2 then 1; process 0 appended x1 before y2.
    const CheckResult result = check_append(sample, "strong-session-read-uncommitted");
    CHECK(result.anomaly_types == Names{"G0-process"});
    CHECK(check_append(sample, "read-uncommitted").validity == Validity::valid);
  }
  SECTION("G1c-process") {
    const auto sample =
        history({begin(1, "ax1 ry1"), ok(0, "rx1"), ok(0, "ay1"), end(1, "ax1 ry1")});
    CHECK(types_of(check_append(sample)) == Names{"G1c-process"});
    CHECK(check_append(sample, "strong-session-read-committed").validity == Validity::invalid);
    CHECK(check_append(sample, "serializable").validity == Validity::valid);
  }
  SECTION("G-single-item-process: a session that goes back in time") {
    const auto sample = history({ok(0, "ax1"), ok(0, "rx[]"), ok(1, "rx1")});
    const CheckResult result = check_append(sample, "strong-session-snapshot-isolation");
    CHECK(result.anomaly_types == Names{"G-single-item-process"});
    REQUIRE(!result.anomalies.empty());
    CHECK(result.anomalies[0].steps[1].explanation == "process 0 executed T2 before T1");
    CHECK(check_append(sample, "serializable").validity == Validity::valid);
  }
  SECTION("G-nonadjacent-item-process: a long fork of sessions") {
    const auto sample =
        history({begin(0, "ax1"), begin(1, "ay1"), begin(2, "rx1"), begin(3, "ry1"), end(2, "rx1"),
                 end(3, "ry1"), begin(2, "ry[]"), begin(3, "rx[]"), end(2, "ry[]"), end(3, "rx[]"),
                 end(0, "ax1"), end(1, "ay1"), ok(4, "rx1 ry1")});
    CHECK(check_append(sample, "strong-session-snapshot-isolation").anomaly_types ==
          Names{"G-nonadjacent-item-process"});
    CHECK(check_append(sample, "serializable").validity == Validity::valid);
  }
  SECTION("G2-item-process") {
    // T0 -process-> T0' -rw-> T1 -rw-> T0
    const auto back =
        history({begin(1, "ry[] ax1"), begin(0, "ay1"), end(0, "ay1"), begin(0, "rx[]"),
                 end(0, "rx[]"), end(1, "ry[] ax1"), ok(2, "rx1 ry1")});
    CHECK(check_append(back, "strong-session-serializable").anomaly_types ==
          Names{"G2-item-process"});
    CHECK(check_append(back, "strong-session-snapshot-isolation").validity == Validity::valid);
    CHECK(check_append(back, "serializable").validity == Validity::valid);
  }
}

TEST_CASE("classes with real time") {
  SECTION("G0-realtime") {
    const auto sample = history({ok(0, "ax1"), ok(1, "ax2"), ok(2, "rx21")});
    const CheckResult result = check_append(sample, "strong-read-uncommitted");
    CHECK(result.anomaly_types == Names{"G0-realtime"});
    REQUIRE(!result.anomalies.empty());
    require_closed(result.anomalies[0]);
    CHECK(check_append(sample, "strong-session-serializable").validity == Validity::valid);
  }
  SECTION("G1c-realtime") {
    // T1 saw what was appended after it completed.
    const auto sample = history({ok(0, "rx1"), ok(1, "ax1")});
    CHECK(check_append(sample, "strong-read-committed").anomaly_types == Names{"G1c-realtime"});
    CHECK(check_append(sample, "serializable").validity == Validity::valid);
  }
  SECTION("G-single-item-realtime: a stale read") {
    const auto sample = history({ok(0, "ax1"), ok(1, "rx[]"), ok(2, "rx1")});
    const CheckResult result = check_append(sample);
    CHECK(result.anomaly_types == Names{"G-single-item-realtime"});
    REQUIRE(!result.anomalies.empty());
    require_closed(result.anomalies[0]);
    CHECK(result.anomalies[0].steps[1].explanation ==
          "T2 completed at index 1, 0.001 seconds before the invocation of T1, at index 2");
    CHECK(check_append(sample, "strong-session-serializable").validity == Validity::valid);
  }
  SECTION("G-nonadjacent-item-realtime") {
    const auto sample =
        history({begin(0, "ax1"), begin(1, "ay1"), begin(4, "ry1 rx[]"), ok(2, "rx1"),
                 ok(3, "ry[]"), end(4, "ry1 rx[]"), end(0, "ax1"), end(1, "ay1")});
    // rx1 < ry[] < ay1 < "ry1 rx[]" < ax1 < rx1
    CHECK(types_of(check_append(sample)) == Names{"G-nonadjacent-item-realtime"});
    CHECK(check_append(sample, "snapshot-isolation").validity == Validity::valid);
  }
  SECTION("G2-item-realtime") {
    const auto sample = history(
        {begin(1, "ry[] ax1"), ok(0, "ay1"), ok(3, "rx[]"), end(1, "ry[] ax1"), ok(2, "rx1 ry1")});
    CHECK(types_of(check_append(sample)) == Names{"G2-item-realtime"});
    CHECK(check_append(sample, "strong-snapshot-isolation").validity == Validity::valid);
  }
}

TEST_CASE("anomalies that need no cycle") {
  SECTION("G1a") {
    const CheckResult result =
        check_append(history({fail(0, "ax1"), ok(1, "rx1")}), "read-committed");
    CHECK(result.anomaly_types == Names{"G1a"});
    REQUIRE(result.anomalies.size() == 1);
    CHECK(result.anomalies[0].operations == std::vector<std::uint64_t>{3, 1});
    CHECK(result.anomalies[0].key == Value::symbol(":x"));
    CHECK(result.anomalies[0].explanation.find("definite failure") != std::string::npos);
  }
  SECTION("G1b") {
    const CheckResult result =
        check_append(concurrent({"ax1 ax2", "rx1", "rx12"}), "read-committed");
    CHECK(types_of(result) == Names{"G-single-item", "G1b"});
    CHECK(result.anomaly_types == Names{"G1b"});
  }
  SECTION("G1b is not one's own") {
    CHECK(check_append(history({ok(0, "ax1 rx1 ax2 rx12")})).validity == Validity::valid);
  }
  SECTION("internal") {
    for (const char* text : {"ax1 rx[]", "rx[] ax1 rx[1 2]", "rx[] rx1", "ax1 ax2 rx21"}) {
      CAPTURE(text);
      const auto types = types_of(
          check_append(history({begin(1, "ax2"), ok(0, text), end(1, "ax2", Phase::fail)})));
      CHECK(std::count(types.begin(), types.end(), "internal") == 1);
    }
    CHECK(check_append(history({ok(0, "ax1 rx[]")}), "read-atomic").validity == Validity::invalid);
    CHECK(check_append(history({ok(0, "ax1 rx[]")}), "read-committed").validity == Validity::valid);
  }
  SECTION("future-read") {
    CHECK(types_of(check_append(history({ok(0, "rx1 ax1")}))) == Names{"future-read"});
    CHECK(check_append(history({ok(0, "rx1 ax1")}), "read-committed").validity ==
          Validity::invalid);
  }
  SECTION("duplicate-elements") {
    const CheckResult result =
        check_append(history({ok(0, "ax1"), ok(1, "rx11")}), "read-uncommitted");
    CHECK(result.anomaly_types == Names{"duplicate-elements"});
  }
  SECTION("incompatible-order") {
    const CheckResult result =
        check_append(concurrent({"ax1", "ax2", "rx12", "rx21"}), "read-committed");
    CHECK(result.anomaly_types == Names{"incompatible-order"});
    CHECK(check_append(concurrent({"ax1", "ax2", "rx12", "rx21"}), "read-uncommitted").validity ==
          Validity::valid);
  }
  SECTION("lost-update") {
    const CheckResult result =
        check_append(concurrent({"rx[] ax1", "rx[] ax2", "rx12"}), "cursor-stability");
    CHECK(result.anomaly_types == Names{"lost-update"});
    CHECK(result.anomaly_types_beyond == Names{"G-single-item"});
  }
  SECTION("dirty-update") {
    const CheckResult result =
        check_append(history({fail(0, "ax1"), ok(1, "ax2"), ok(2, "rx12")}), "read-committed");
    CHECK(result.anomaly_types == Names{"G1a", "dirty-update"});
  }
  SECTION("cyclic-versions") {
    const CheckResult result =
        check_append(history({ok(0, "ax1 ax2"), ok(1, "rx21")}), "read-uncommitted");
    CHECK(result.anomaly_types == Names{"cyclic-versions"});
    // 1 was lost: the read has 2 without it.
    CHECK(types_of(check_append(history({ok(0, "ax1 ax2"), ok(1, "rx2")}))) ==
          Names{"G-single-item", "cyclic-versions"});
  }
  SECTION("garbage-read") {
    CHECK(types_of(check_append(history({ok(0, "rx7")}))) == Names{"garbage-read"});
    CHECK(check_append(history({ok(0, "rx7")}), "read-uncommitted").validity == Validity::invalid);
  }
}

TEST_CASE("an info transaction counts as committed only where it was observed") {
  // Unobserved: its appends may never have happened.
  CHECK(check_append(history({info(0, "ax1"), ok(1, "rx[]"), ok(2, "rx[]")})).validity ==
        Validity::valid);
  // Observed by its append to x: then y must follow.
  const CheckResult result =
      check_append(history({info(0, "ax1 ay1"), ok(1, "rx1"), ok(2, "ry[]")}));
  CHECK(result.anomaly_types == Names{"G-single-item-realtime"});
}

TEST_CASE("an unread append of a committed transaction comes after what was read") {
  const CheckResult result = check_append(history({ok(0, "ax1"), ok(1, "rx[] ry[]")}));
  CHECK(result.anomaly_types == Names{"G-single-item-realtime"});
}

TEST_CASE("a version of a failed append does not hide the order of its neighbours") {
  const CheckResult result =
      check_append(concurrent({"ax1 ay2", "ax3 ay1", "rx[1 2 3]", "ry12"}), "read-uncommitted");
  CHECK(result.anomaly_types == Names{"G0", "garbage-read"});
}

TEST_CASE("elements appended twice leave their key undecided, other keys are judged") {
  const CheckResult unknown = check_append(history({ok(0, "ax1"), ok(1, "ax1"), ok(2, "rx1")}));
  CHECK(unknown.validity == Validity::unknown);
  CHECK(unknown.reason.find(
            "element 1 was appended to key :x by operation 1 and again by operation 3") == 0);
  const CheckResult invalid =
      check_append(history({ok(0, "ax1"), ok(1, "ax1 ay1"), ok(2, "ry[]")}));
  CHECK(invalid.validity == Validity::invalid);
  // A retry of what certainly failed is no doubt.
  CHECK(check_append(history({fail(0, "ax1"), ok(0, "ax1"), ok(2, "rx1")})).validity ==
        Validity::valid);
}

TEST_CASE("micro-operations of registers are unknown, with advice") {
  HistoryBuilder builder;
  Operation operation{0, {}, ProcessId{0}, Phase::invoke, "txn", Txn{}, ""};
  operation.payload = Txn{{MicroOp{MicroFunction::write, Value(1), Value(2), std::nullopt}}};
  builder.add(operation);
  operation.index = 1;
  operation.phase = Phase::ok;
  builder.add(operation);
  const CheckResult result = check_append(std::move(builder).build());
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason.find("needs appends and reads of lists") != std::string::npos);
}

TEST_CASE("a request to stop makes the verdict unknown") {
  const auto sample = concurrent({"rx[] ay1", "ry[] ax1", "rx1 ry1"});
  const auto options = Options::make("checker", list_append_options(), {});
  std::stop_source source;
  source.request_stop();
  CHECK(check_list_append(sample, *options, source.get_token()).validity == Validity::unknown);
}

TEST_CASE("an observed info transaction appended in its own order, too") {
  const auto reversed = history({begin(0, "ax1 rx"), info(1, "ax2 ax3"), end(0, "ax1 rx[3 2 1]")});
  const Names types = types_of(check_append(reversed));
  CHECK(std::count(types.begin(), types.end(), "cyclic-versions") == 1);
  CHECK(check_append(reversed, "read-uncommitted").validity == Validity::invalid);
}

TEST_CASE("a read that is no prefix did not miss what it has") {
  const auto forked = concurrent({"ax1", "ax2 ax3", "rx[1 3 2]", "rx[1 2 3]"});
  const Names types = types_of(check_append(forked));
  CHECK(std::count(types.begin(), types.end(), "incompatible-order") == 1);
  CHECK(std::count(types.begin(), types.end(), "G-single-item") == 0);
}

TEST_CASE("an ok transaction whose value is not known has read nobody knows what") {
  CHECK(check_append(history({ok(0, "ax1"), begin(1, "rx"), end(1, "")})).validity ==
        Validity::valid);
  CHECK(check_append(history({ok(0, "ax1"), begin(1, "rx"), end(1, "rx")})).validity ==
        Validity::invalid);
}

}  // namespace
}  // namespace ordeal
