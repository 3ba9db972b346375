// Histories and bounds are those of Jepsen's own tests, where they have the same.
#include <catch2/catch.hpp>

#include "tests/checkers/single_objects.h"

namespace ordeal::test {
namespace {

TEST_CASE("counter: starts at zero, and failed adds don't count") {
  const auto result = Events().pair("add", "1", Phase::fail).get("read", "0").check("counter");
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields == Fields{{"reads", "[[0,0,0]]"}, {"errors", "[]"}});
}

TEST_CASE("counter: unknown if never read") {
  CHECK(Events().check("counter").validity == Validity::unknown);
  const auto result = Events().pair("add", "1").check("counter");
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason == "the counter was never read");
}

TEST_CASE("counter: above what was ever added") {
  const auto result = Events().get("read", "1").check("counter");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"above-upper-bound"});
  CHECK(result.fields == Fields{{"reads", "[[0,1,0]]"}, {"errors", "[[0,1,0]]"}});
  CHECK(result.anomalies.at(0).explanation ==
        "operation 1 read 1, but the adds that had begun when it completed make at most 0");
}

TEST_CASE("counter: below what was certainly added") {
  const auto result = Events().pair("add", "2").pair("add", "3").get("read", "4").check("counter");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"below-lower-bound"});
  CHECK(result.fields.at("errors") == "[[5,4,5]]");
  CHECK(result.anomalies.at(0).operations == std::vector<std::uint64_t>{5});
  CHECK(result.anomalies.at(0).explanation ==
        "operation 5 read 4, but the adds that had completed when it began make at least 5");
}

TEST_CASE("counter: interleaved concurrent reads and writes") {
  Events events;
  for (std::int64_t at = 0; at < 4; ++at) {
    events.invoke(2 * at, "read").invoke(2 * at + 1, "add", std::to_string(1 << at));
  }
  events.invoke(8, "read");
  const std::vector<std::string> reads = {"6", "0", "3", "100", "15"};
  for (std::int64_t at = 0; at < 5; ++at) {
    events.ok(2 * at, "read", reads[static_cast<std::size_t>(at)]);
    if (at < 4) events.ok(2 * at + 1, "add", std::to_string(1 << at));
  }
  const auto result = events.check("counter");
  CHECK(result.fields == Fields{{"reads", "[[0,6,15],[0,0,15],[0,3,15],[0,100,15],[0,15,15]]"},
                                {"errors", "[[0,100,15]]"}});
}

TEST_CASE("counter: rolling reads and writes") {
  const auto result = Events()
                          .invoke(0, "read")
                          .invoke(1, "add", "1")
                          .ok(0, "read", "0")
                          .invoke(0, "read")
                          .ok(1, "add", "1")
                          .invoke(1, "add", "2")
                          .ok(0, "read", "3")
                          .invoke(0, "read")
                          .ok(1, "add", "2")
                          .ok(0, "read", "5")
                          .check("counter");
  CHECK(result.fields == Fields{{"reads", "[[0,0,1],[0,3,3],[1,5,3]]"}, {"errors", "[[1,5,3]]"}});
}

TEST_CASE("counter: an open add may happen at any time, or never") {
  for (const auto* value : {"0", "5"}) {
    CHECK(Events().pair("add", "5", Phase::info).get("read", value).check("counter").validity ==
          Validity::valid);
    CHECK(Events().invoke(1, "add", "5").get("read", value).check("counter").validity ==
          Validity::valid);
  }
  CHECK(Events().pair("add", "5", Phase::info).get("read", "6").check("counter").validity ==
        Validity::invalid);
}

TEST_CASE("counter: negative amounts move the lower bound while they are open") {
  const auto read = [](std::string_view value) {
    return Events()
        .pair("add", "10")
        .pair("add", "-4")
        .pair("add", "-3", Phase::info)
        .pair("add", "2", Phase::info)
        .get("read", value)
        .check("counter");
  };
  CHECK(read("6").fields.at("reads") == "[[3,6,8]]");
  CHECK(read("2").anomaly_types == Names{"below-lower-bound"});
  CHECK(read("3").validity == Validity::valid);
  CHECK(read("8").validity == Validity::valid);
  CHECK(read("9").anomaly_types == Names{"above-upper-bound"});
}

TEST_CASE("counter: values that are no integers, and sums past 64 bits, are unknown") {
  CHECK(Events().pair("add", "1").get("read", ":x").check("counter").reason ==
        "operation 3, read :x, was not judged: expected an integer");
  CHECK(Events().pair("add", "1.5").get("read", "1").check("counter").validity != Validity::valid);
  Events events;
  for (int at = 0; at < 3; ++at) events.pair("add", "4000000000000000000");
  CHECK(events.get("read", "0").check("counter").validity != Validity::valid);
}

}  // namespace
}  // namespace ordeal::test
