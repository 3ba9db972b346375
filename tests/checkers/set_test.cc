#include <catch2/catch.hpp>

#include "tests/checkers/single_objects.h"

namespace ordeal::test {
namespace {

TEST_CASE("set: all that was acknowledged is in the final read") {
  const auto result = Events()
                          .pair("add", "0")
                          .pair("add", "1")
                          .pair("add", "2", Phase::info)
                          .pair("add", "3", Phase::fail)
                          .get("read", "#{0}")
                          .get("read", "#{2 0 1}")
                          .check("set");
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields == Fields{{"attempt-count", "4"},
                                {"acknowledged-count", "2"},
                                {"ok-count", "3"},
                                {"lost-count", "0"},
                                {"recovered-count", "1"},
                                {"unexpected-count", "0"},
                                {"ok", R"("#{0..2}")"},
                                {"lost", R"("#{}")"},
                                {"unexpected", R"("#{}")"},
                                {"recovered", R"("#{2}")"}});
}

TEST_CASE("set: an acknowledged element that is missing is lost") {
  const auto result = Events().pair("add", "0").pair("add", "7").get("read", "[0]").check("set");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"lost"});
  CHECK(result.fields.at("lost") == R"("#{7}")");
  REQUIRE(result.anomalies.size() == 1);
  CHECK(result.anomalies[0].operations == std::vector<std::uint64_t>{3, 5});
  CHECK(result.anomalies[0].values == std::vector{Value(7)});
  CHECK(result.anomalies[0].explanation ==
        "operation 3 added 7 and was acknowledged, but the final read, operation 5, lacks it");
  CHECK(result.reason == "1 lost; first: " + result.anomalies[0].explanation);
}

TEST_CASE("set: an element that nobody added is unexpected") {
  const auto result = Events().pair("add", "0").get("read", R"(#{0 "a" -3})").check("set");
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"unexpected"});
  CHECK(result.anomaly_counts.at("unexpected") == 2);
  CHECK(result.fields.at("unexpected") == R"("#{-3 \"a\"}")");
  CHECK(result.anomalies.at(0).explanation ==
        "the final read, operation 3, has -3, which nobody ever tried to add");
}

TEST_CASE("set: only the last read that is ok counts") {
  const auto result = Events()
                          .pair("add", "0")
                          .get("read", "#{5}")
                          .get("read", "#{0}")
                          .invoke(1, "read")
                          .fail(1, "read", "#{9}")
                          .check("set");
  CHECK(result.validity == Validity::valid);
}

TEST_CASE("set: a completion without value has that of its invocation") {
  const auto result =
      Events().invoke(0, "add", "4").ok(0, "add", "nil").get("read", "#{}").check("set");
  CHECK(result.fields.at("lost") == R"("#{4}")");
}

TEST_CASE("set: what was acknowledged after the final read had begun is open") {
  const auto result = Events()
                          .invoke(0, "add", "1")
                          .invoke(1, "read")
                          .ok(0, "add", "1")
                          .ok(1, "read", "#{}")
                          .check("set");
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason == "1 of the elements were acknowledged only after the final read had begun");
}

TEST_CASE("set: unknown without a final read that returns a set") {
  CHECK(Events().check("set").reason == "the set was never read");
  CHECK(Events().pair("add", "0").check("set").validity == Validity::unknown);
  CHECK(Events().pair("add", "0").get("read", "nil").check("set").reason ==
        "operation 3, the final read, returned nil");
  CHECK(Events().pair("add", "0").get("read", ":x").check("set").reason ==
        "operation 3, the final read, returned :x, which is no set or list");
}

}  // namespace
}  // namespace ordeal::test
