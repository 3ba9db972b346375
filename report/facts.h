// Facts of a history that reports show, as pure functions: how many operations ended how over
// time, how long they took, and when which fault was active. Sizes are bounded by the number of
// buckets, not by the history's length. No checker uses them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "checkers/checker.h"
#include "history/history.h"

namespace ordeal {

using Nanoseconds = std::chrono::nanoseconds;

struct TimeRange {
  Nanoseconds begin{0};
  Nanoseconds end{0};
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

// One injected fault: from the invocation of its injection (it may bite at once) to the
// completion of its healing.
struct FaultSpan {
  std::string fault;
  std::vector<std::string> hosts;
  std::string detail;
  TimeRange range;
  bool healed = false;  // false: still active when the history ends
  std::vector<std::string> legs{};
  std::string direction{};
  std::string share{};
  std::string effect{};          // measured after injection
  std::string seen_direction{};  // of "both", where it had an effect, until it was healed
  bool failed = false;  // it was not, or not fully, injected, or had no effect; and was undone
};

// Completions of one bucket of time.
struct RateBucket {
  OutcomeCounts outcomes;
  // Of the operations that completed ok, from their invocations; zero where there are none.
  Nanoseconds latency_median{0};
  Nanoseconds latency_p95{0};
  Nanoseconds latency_max{0};
};

struct Rates {
  TimeRange range;
  Nanoseconds bucket{1};
  std::vector<RateBucket> buckets;
};

struct HistoryFacts {
  TimeRange range;                                   // first to last event
  std::map<std::string, OutcomeCounts> by_function;  // of clients, not of the nemesis
  OutcomeCounts outcomes;                            // their sum
  std::uint64_t open = 0;                            // invocations of clients without completion
  std::vector<FaultSpan> faults;                     // in order of injection
  Rates rates;
};

TimeRange time_range(const History& history);
// From the FaultEvents of kNemesis. A heal ends the oldest open span of that fault with the same
// hosts; one that names no hosts, or hosts that match none, ends all open spans of that fault.
std::vector<FaultSpan> fault_spans(const History& history);
// Buckets of a round length (1, 2 or 5 times a power of ten), at most `buckets_max` of them.
Rates operation_rates(const History& history, std::size_t buckets_max);
HistoryFacts history_facts(const History& history, std::size_t buckets_max = 120);

// Where the events with these indexes stand; imported histories may skip or repeat indexes, in
// which case the first counts. Absent indexes are left out.
std::map<std::uint64_t, Position> positions_of(const History& history,
                                               const std::set<std::uint64_t>& indexes);

// Faults active at some moment of `range`.
std::vector<const FaultSpan*> active_faults(const std::vector<FaultSpan>& spans, TimeRange range);

}  // namespace ordeal
