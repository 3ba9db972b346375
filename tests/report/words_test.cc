#include "report/words.h"

#include <catch2/catch.hpp>

namespace ordeal {
namespace {

TEST_CASE("counts are readable") {
  CHECK(with_commas(0) == "0");
  CHECK(with_commas(999) == "999");
  CHECK(with_commas(1000) == "1,000");
  CHECK(with_commas(1234567) == "1,234,567");
  CHECK(times_found(1) == "once");
  CHECK(times_found(1200) == "1,200 times");
}

TEST_CASE("the most telling types come first, and only six are named") {
  CheckResult result;
  result.anomaly_types = {"T-A", "T-B", "T-C", "T-D", "T-E", "T-F", "G0"};
  result.anomaly_types_beyond = {"T-Z"};
  CHECK(types_by_weight(result) ==
        std::vector<std::string>{"G0", "T-A", "T-B", "T-C", "T-D", "T-E", "T-F", "T-Z"});
  CHECK(anomalies_text(result) == "G0, T-A, T-B, T-C, T-D, T-E, and 1 more kinds");
}

TEST_CASE("of cycles, the most severe come first") {
  CHECK(by_weight({"G-single-item-realtime", "G0-process", "G0-realtime", "G1c", "G2-item", "G0",
                   "G-single-item"}) ==
        std::vector<std::string>{"G0", "G1c", "G-single-item", "G2-item", "G0-process",
                                 "G0-realtime", "G-single-item-realtime"});
}

TEST_CASE("short lists stay, long ones keep their end") {
  CHECK(shorten_lists("read [1 2 3] of x", 3) == "read [1 2 3] of x");
  CHECK(shorten_lists("read [1 2 3 4 5] of x", 3) == "read [... 3 4 5] of x");
}

TEST_CASE("lists that begin alike keep the place that differs") {
  CHECK(shorten_lists("[1 2 3 4 5 6 7 8] but [1 2 3 9 5 6 7 8]", 4) ==
        "[... 2 3 4 5 ...] but [... 2 3 9 5 ...]");
  // A list that ends early differs where it ends.
  CHECK(shorten_lists("[1 2 3 4 5 6 7 8] but [1 2]", 4) == "[1 2 3 4 ...] but [1 2]");
}

TEST_CASE("reads of different keys are not compared") {
  CHECK(shorten_lists("[[:r x [1 2 3 4 5 6]] [:r y [1 2 9]]]", 2) ==
        "[[:r x [... 5 6]] [:r y [... 2 9]]]");
}

TEST_CASE("brackets in strings and unbalanced ones are no lists") {
  CHECK(shorten_lists(R"(["a]" "b" "c\"]" "d"])", 2) == R"([... "c\"]" "d"])");
  CHECK(shorten_lists("]]][1 2 3", 2) == "]]][1 2 3");
  CHECK(shorten_lists("\"open", 2) == "\"open");
}

TEST_CASE("text is cut between characters") {
  CHECK(shorten("abc", 3) == "abc");
  CHECK(shorten("ab\xC3\xA4", 3) == "ab...");
}

TEST_CASE("nothing recorded steers a terminal") {
  CHECK(terminal_safe("a\x1b[31m\nb\x7f") == "a\\x1b[31m\nb\\x7f");
  CHECK(terminal_safe("\xC2\x9B") == "\\xc2\\x9b");
  CHECK(terminal_safe("\xC3\xA4") == "\xC3\xA4");
}

}  // namespace
}  // namespace ordeal
