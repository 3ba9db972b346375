#include "report/facts.h"

#include <catch2/catch.hpp>

#include "report_fixture.h"

namespace ordeal {
namespace {

using fixture::fault;
using fixture::operation;
using std::chrono::milliseconds;

History build(const std::vector<Operation>& operations) {
  HistoryBuilder builder;
  for (const Operation& op : operations) builder.add(op);
  return std::move(builder).build();
}

TEST_CASE("a fault spans from the start of its injection to the end of its healing") {
  const auto spans = fault_spans(fixture::write_skew());
  REQUIRE(spans.size() == 1);
  CHECK(spans[0].fault == "partition");
  CHECK(spans[0].hosts == std::vector<std::string>{"n1"});
  CHECK(spans[0].detail == "n1 is cut off");
  CHECK(spans[0].range == TimeRange{milliseconds(500), milliseconds(2100)});
  CHECK(spans[0].healed);
}

TEST_CASE("a fault that was never healed lasts to the end") {
  const auto spans =
      fault_spans(build({fault(0, 1, Phase::invoke, FaultAction::inject, "kill", {"n1"}),
                         fault(1, 2, Phase::info, FaultAction::inject, "kill", {"n1"}),
                         operation(2, 9, 0, Phase::invoke, Txn{})}));
  REQUIRE(spans.size() == 1);
  CHECK_FALSE(spans[0].healed);
  CHECK(spans[0].range.end == milliseconds(9000));
}

TEST_CASE("heals end the span with their hosts, or all of the fault") {
  const auto inject = [](std::uint64_t index, double time, const char* host) {
    return fault(index, time, Phase::invoke, FaultAction::inject, "pause", {host});
  };
  const auto spans =
      fault_spans(build({inject(0, 1, "n1"), inject(1, 2, "n2"), inject(2, 3, "n3"),
                         fault(3, 4, Phase::info, FaultAction::heal, "pause", {"n2"}),
                         fault(4, 5, Phase::info, FaultAction::heal, "clock", {}),
                         fault(5, 6, Phase::info, FaultAction::heal, "pause", {})}));
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].range.end == milliseconds(6000));
  CHECK(spans[1].range.end == milliseconds(4000));
  CHECK(spans[2].range.end == milliseconds(6000));
}

TEST_CASE(
    "overlapping injections are told apart by what they strike; one without effect has failed") {
  const auto event = [](std::uint64_t index, Phase phase, FaultAction action, const char* name) {
    return fault(index, static_cast<double>(index), phase, action, name, {"n1"});
  };
  Operation failed = event(4, Phase::info, FaultAction::inject, "pause");
  failed.note = "no effect";
  const auto spans = fault_spans(build({event(0, Phase::invoke, FaultAction::inject, "kill"),
                                        event(1, Phase::invoke, FaultAction::inject, "pause"),
                                        event(2, Phase::info, FaultAction::inject, "kill"),
                                        event(3, Phase::invoke, FaultAction::heal, "kill"), failed,
                                        event(5, Phase::info, FaultAction::heal, "kill"),
                                        event(6, Phase::invoke, FaultAction::inject, "stop"),
                                        event(7, Phase::info, FaultAction::heal, "clock")}));
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].range == TimeRange{milliseconds(0), milliseconds(5000)});
  CHECK_FALSE(spans[0].failed);
  CHECK(spans[1].range == TimeRange{milliseconds(1000), milliseconds(4000)});
  CHECK(spans[1].failed);
  CHECK(spans[2].failed);  // nobody knows
}

TEST_CASE("a fault was seen in a direction at its injection, or until its healing") {
  const auto event = [](std::uint64_t index, FaultAction action, const char* seen) {
    Operation operation =
        fault(index, static_cast<double>(index), Phase::info, action, "latency", {"n1"});
    std::get<FaultEvent>(operation.payload).direction = "both";
    std::get<FaultEvent>(operation.payload).seen_direction = seen;
    return operation;
  };
  const auto seen = [&](const char* at_first, const char* in_the_end) {
    return fault_spans(build({event(0, FaultAction::inject, at_first),
                              event(1, FaultAction::heal, in_the_end)}))
        .at(0)
        .seen_direction;
  };
  CHECK(seen("upstream", "") == "upstream");
  CHECK(seen("upstream", "upstream") == "upstream");
  CHECK(seen("upstream", "downstream") == "both");
  CHECK(seen("", "") == "");
}

TEST_CASE("outcomes are counted by function, without the nemesis") {
  const HistoryFacts facts = history_facts(
      build({operation(0, 0, 0, Phase::invoke, Txn{}), operation(1, 1, 0, Phase::ok, Txn{}),
             operation(2, 1, 0, Phase::invoke, Balances{}, "read"),
             operation(3, 2, 0, Phase::info, Balances{}, "read"),
             operation(4, 2, 1, Phase::invoke, Txn{}),
             fault(5, 3, Phase::invoke, FaultAction::inject, "kill", {"n1"})}));
  CHECK(facts.by_function.size() == 2);
  CHECK(facts.by_function.at("txn").ok == 1);
  CHECK(facts.by_function.at("read").info == 1);
  CHECK(facts.outcomes.ok == 1);
  CHECK(facts.open == 1);
}

TEST_CASE("rates are bucketed by completion, and quantiles are of ok operations") {
  std::vector<Operation> operations;
  for (std::uint64_t i = 0; i < 100; ++i) {
    const double start = static_cast<double>(i) * 0.1;
    const double latency = i % 10 == 9 ? 0.05 : 0.01;
    operations.push_back(operation(2 * i, start, 0, Phase::invoke, Txn{}));
    operations.push_back(operation(2 * i + 1, start + latency, 0, Phase::ok, Txn{}));
  }
  const Rates rates = operation_rates(build(operations), 10);
  CHECK(rates.bucket == milliseconds(1000));
  REQUIRE(rates.buckets.size() == 10);
  std::uint64_t total = 0;
  for (const RateBucket& bucket : rates.buckets) total += bucket.outcomes.ok;
  CHECK(total == 100);
  CHECK(rates.buckets[3].outcomes.ok == 10);
  CHECK(rates.buckets[3].latency_median == milliseconds(10));
  CHECK(rates.buckets[3].latency_max == milliseconds(50));
}

TEST_CASE("buckets stay bounded for hostile times") {
  const Rates rates = operation_rates(
      build({operation(0, 0, 0, Phase::invoke, Txn{}),
             {1, std::chrono::nanoseconds::max(), ProcessId{0}, Phase::ok, "txn", Txn{}, ""},
             {2, std::chrono::nanoseconds::min(), ProcessId{1}, Phase::ok, "txn", Txn{}, ""}}),
      50);
  CHECK(rates.buckets.size() <= 50);
  CHECK(operation_rates(History(), 50).buckets.size() == 1);
}

TEST_CASE("faults active during an operation are those that overlap it") {
  const auto spans = fault_spans(fixture::write_skew());
  CHECK(active_faults(spans, {milliseconds(1000), milliseconds(1200)}).size() == 1);
  CHECK(active_faults(spans, {milliseconds(2101), milliseconds(2200)}).empty());
  CHECK(active_faults(spans, {milliseconds(0), milliseconds(499)}).empty());
}

}  // namespace
}  // namespace ordeal
