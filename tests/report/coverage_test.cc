#include "report/coverage.h"

#include <catch2/catch.hpp>

namespace ordeal {
namespace {

using std::chrono::seconds;

FaultSpan cut(const std::string& direction, int length_s, bool failed = false) {
  return {.fault = "partition",
          .hosts = {"n1"},
          .detail = "",
          .range = {seconds(10), seconds(10 + length_s)},
          .healed = true,
          .legs = {"client-db"},
          .direction = direction,
          .effect = failed ? "" : "no answer",
          .failed = failed};
}

FaultSpan kill(const std::string& share) {
  return {.fault = "kill",
          .hosts = {"n1"},
          .detail = "",
          .range = {seconds(1), seconds(2)},
          .healed = true,
          .share = share};
}

TEST_CASE("coverage is told by fault, place and direction; what had no effect does not count") {
  const auto rows = fault_coverage({cut("upstream", 3, true), cut("upstream", 4),
                                    cut("upstream", 5), cut("both", 2), kill("one"), kill("all"),
                                    kill("one"), cut("downstream", 1, true)});
  REQUIRE(rows.size() == 5);
  CHECK(rows[0] == CoverageRow{"kill", "all servers", "", 1, 0, seconds(1), ""});
  CHECK(rows[1] == CoverageRow{"kill", "one server", "", 2, 0, seconds(2), ""});
  CHECK(rows[2] == CoverageRow{"partition", "client-db", "both", 1, 0, seconds(2), "no answer"});
  CHECK(rows[3] == CoverageRow{"partition", "client-db", "downstream", 0, 1, seconds(0), ""});
  CHECK(rows[4] ==
        CoverageRow{"partition", "client-db", "upstream", 2, 1, seconds(9), "no answer"});
}

TEST_CASE("of both directions, the one alone in which something was seen is covered") {
  FaultSpan half = cut("both", 3);
  half.seen_direction = "upstream";
  FaultSpan whole = cut("both", 2);
  whole.seen_direction = "both";
  const auto rows = fault_coverage({half, whole, cut("upstream", 4)});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0] == CoverageRow{"partition", "client-db", "both", 1, 0, seconds(2), "no answer"});
  CHECK(rows[1] ==
        CoverageRow{"partition", "client-db", "upstream", 2, 0, seconds(7), "no answer"});
}

}  // namespace
}  // namespace ordeal
