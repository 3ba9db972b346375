// Cycles as graphs: what the DOT text says, and what Graphviz makes of it.
#include <catch2/catch.hpp>

#include "report/cycle_dot.h"
#include "report/graphviz.h"
#include "tests/report/report_fixture.h"

using namespace ordeal;
using Catch::Matchers::Contains;

namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

Step step(std::uint64_t from, std::uint64_t to, std::string edge) {
  return {from, to, std::move(edge), Value::symbol(":x"), Value(1), Value(2), "because"};
}

}  // namespace

TEST_CASE("a cycle is a graph with each transaction and each edge") {
  Anomaly anomaly;
  anomaly.type = "G-single-item-realtime";
  anomaly.steps = {step(4, 7, "rw"), step(7, 4, "realtime")};
  const TransactionNames names = transaction_names(anomaly);
  CHECK(names == TransactionNames{{4, "T1"}, {7, "T2"}});
  const std::string dot = cycle_dot(anomaly, names);
  CHECK(dot.find("n4 [label=\"T1\"") < dot.find("n7 [label=\"T2\""));
  CHECK_THAT(dot, Contains("n4 -> n7 [label=\"rw :x: 1 → 2\", style=\"solid\""));
  CHECK_THAT(dot, Contains("n7 -> n4 [label=\"realtime :x: 1 → 2\", style=\"dotted\""));
  const std::string svg = svg_of_dot(dot);
  CHECK(svg.starts_with("<svg"));
  CHECK(count(svg, "class=\"node\"") == 2);
  CHECK(count(svg, "class=\"edge\"") == 2);
  CHECK_THAT(svg, Contains("rw :x: 1 → 2"));
}

TEST_CASE("what was recorded is text in a picture, whatever it looks like") {
  Anomaly anomaly;
  anomaly.type = "G0\" ]; } <script>";
  anomaly.steps = {step(1, 2, "ww"), step(2, 1, "ww")};
  anomaly.steps[0].key = Value::symbol("\"<script>alert(1)</script> &lt;b&gt; \\N\"");
  const std::string svg = svg_of_dot(cycle_dot(anomaly, transaction_names(anomaly)));
  CHECK(svg.starts_with("<svg"));
  CHECK(count(svg, "<script") == 0);
  CHECK(count(svg, "<b>") == 0);
}

TEST_CASE("no picture of what is no cycle, or too long for one") {
  CHECK(cycle_dot(Anomaly{}, {}).empty());
  Anomaly too_long;
  for (std::uint64_t i = 10; i < 60; ++i) too_long.steps.push_back(step(i, i + 1, "ww"));
  CHECK(cycle_dot(too_long, {}).empty());
  CHECK(svg_of_dot("digraph {").empty());
}
