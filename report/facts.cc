#include "report/facts.h"

#include <algorithm>
#include <limits>

namespace ordeal {
namespace {

// Imported histories may carry any number as time; within these bounds differences can't overflow.
constexpr std::int64_t kTimeLimit = std::numeric_limits<std::int64_t>::max() / 4;

Nanoseconds time_of(const Event& event) {
  return Nanoseconds(std::clamp(event.time_ns, -kTimeLimit, kTimeLimit));
}

void count(OutcomeCounts& counts, Phase phase) {
  if (phase == Phase::ok) ++counts.ok;
  if (phase == Phase::fail) ++counts.fail;
  if (phase == Phase::info) ++counts.info;
}

// Injections and heals in the order of the history, and the spans that are still open.
class SpanCollector {
 public:
  void add(const History& history, Position position) {
    const Event& event = history.event(position);
    const auto* fault = std::get_if<FaultEvent>(&history.payload(event));
    if (fault == nullptr) return;
    const bool failed = !history.note(position).empty();
    if (fault->action == FaultAction::inject) {
      inject(*fault, event, failed);
    } else if (event.phase != Phase::invoke && !failed) {
      heal(*fault, time_of(event));
    }
  }

  std::vector<FaultSpan> finish(Nanoseconds end) {
    for (std::size_t at = 0; at < spans_.size(); ++at) {
      FaultSpan& span = spans_[at];
      if (!span.healed) span.range.end = std::max(end, span.range.begin);
      span.failed = span.failed || !seen_[at];  // nobody knows whether it had an effect
    }
    return std::move(spans_);
  }

 private:
  // Faults overlap, and all are of one process: which completion belongs to which invocation is
  // told by what they strike.
  void inject(const FaultEvent& fault, const Event& event, bool failed) {
    const bool begins = event.phase == Phase::invoke;
    auto place = begins ? spans_.size() : first(fault, [&](std::size_t at) { return !seen_[at]; });
    if (place == spans_.size()) {  // also a completion that lacks its invocation
      spans_.push_back(span_of(fault, event));
      seen_.push_back(false);
    }
    if (begins) return;
    FaultSpan& span = spans_[place];
    seen_[place] = true;
    // The completion knows more than the intention.
    if (!fault.detail.empty()) span.detail = fault.detail;
    span.effect = fault.effect;
    span.seen_direction = fault.seen_direction;
    span.failed = failed;
    if (failed) close(span, time_of(event));
  }

  static FaultSpan span_of(const FaultEvent& fault, const Event& event) {
    return {.fault = fault.fault,
            .hosts = fault.hosts,
            .detail = fault.detail,
            .range = {time_of(event), {}},
            .legs = fault.legs,
            .direction = fault.direction,
            .share = fault.share};
  }

  void heal(const FaultEvent& fault, Nanoseconds time) {
    const bool everywhere = fault.hosts.empty() && fault.legs.empty();
    const auto place = first(fault, [](std::size_t) { return true; });
    if (!everywhere && place != spans_.size()) {
      std::string& seen = spans_[place].seen_direction;
      seen = both_directions(seen, fault.seen_direction);
      return close(spans_[place], time);
    }
    for (FaultSpan& span : spans_) {
      if (!span.healed && span.fault == fault.fault) close(span, time);
    }
  }

  // The place of the first open span of the same fault that is wanted; spans_.size(): there is
  // none.
  template <class Wanted>
  std::size_t first(const FaultEvent& fault, Wanted&& wanted) const {
    for (std::size_t at = 0; at < spans_.size(); ++at) {
      const FaultSpan& span = spans_[at];
      const bool same = span.fault == fault.fault && span.hosts == fault.hosts &&
                        span.legs == fault.legs && span.direction == fault.direction;
      if (same && !span.healed && wanted(at)) return at;
    }
    return spans_.size();
  }

  static void close(FaultSpan& span, Nanoseconds time) {
    span.healed = true;
    span.range.end = std::max(time, span.range.begin);
  }

  std::vector<FaultSpan> spans_;
  std::vector<bool> seen_;  // by span: its injection has completed
};

// The least of 1, 2, 5, 10, 20, ... nanoseconds that covers `length` in at most `buckets_max`
// steps.
Nanoseconds round_bucket(Nanoseconds length, std::size_t buckets_max) {
  const auto enough = [&](std::int64_t bucket) {
    return static_cast<std::uint64_t>(length.count() / bucket) < buckets_max;
  };
  for (std::int64_t power = 1;; power *= 10) {
    for (const std::int64_t digit : {1, 2, 5}) {
      if (enough(power * digit)) return Nanoseconds(power * digit);
    }
  }
}

// Nearest rank; reorders `latencies`.
Nanoseconds quantile(std::vector<std::int64_t>& latencies, double q) {
  if (latencies.empty()) return Nanoseconds(0);
  const auto rank = static_cast<std::ptrdiff_t>(q * static_cast<double>(latencies.size() - 1));
  std::nth_element(latencies.begin(), latencies.begin() + rank, latencies.end());
  return Nanoseconds(latencies[static_cast<std::size_t>(rank)]);
}

}  // namespace

TimeRange time_range(const History& history) {
  if (history.size() == 0) return {};
  TimeRange range{time_of(history.event(0)), time_of(history.event(0))};
  for (const Event& event : history.events()) {
    range.begin = std::min(range.begin, time_of(event));
    range.end = std::max(range.end, time_of(event));
  }
  return range;
}

std::vector<FaultSpan> fault_spans(const History& history) {
  SpanCollector collector;
  for (Position position = 0; position < history.size(); ++position) {
    if (history.event(position).kind == PayloadKind::fault) collector.add(history, position);
  }
  return collector.finish(time_range(history).end);
}

Rates operation_rates(const History& history, std::size_t buckets_max) {
  Rates rates;
  rates.range = time_range(history);
  const Nanoseconds length = rates.range.end - rates.range.begin;
  rates.bucket = round_bucket(length, std::max<std::size_t>(buckets_max, 1));
  rates.buckets.resize(static_cast<std::size_t>(length / rates.bucket) + 1);
  std::vector<std::vector<std::int64_t>> latencies(rates.buckets.size());
  for (const Event& event : history.events()) {
    if (event.phase == Phase::invoke || event.process == kNemesis) continue;
    const auto place =
        static_cast<std::size_t>((time_of(event) - rates.range.begin) / rates.bucket);
    count(rates.buckets[place].outcomes, event.phase);
    if (event.phase != Phase::ok || event.partner == kNoPosition) continue;
    const Nanoseconds latency = time_of(event) - time_of(history.event(event.partner));
    latencies[place].push_back(latency.count());
  }
  for (std::size_t i = 0; i < latencies.size(); ++i) {
    rates.buckets[i].latency_median = quantile(latencies[i], 0.5);
    rates.buckets[i].latency_p95 = quantile(latencies[i], 0.95);
    rates.buckets[i].latency_max = quantile(latencies[i], 1.0);
  }
  return rates;
}

HistoryFacts history_facts(const History& history, std::size_t buckets_max) {
  HistoryFacts facts;
  facts.rates = operation_rates(history, buckets_max);
  facts.range = facts.rates.range;
  facts.faults = fault_spans(history);
  // Events count into a table by function number first: a name's look-up each would cost more
  // than all else.
  std::map<std::uint16_t, OutcomeCounts> by_number;
  std::map<std::uint16_t, const Event*> example;
  for (const Event& event : history.events()) {
    if (event.process == kNemesis) continue;
    if (event.phase == Phase::invoke) {
      if (event.partner == kNoPosition) ++facts.open;
      continue;
    }
    count(by_number[event.function], event.phase);
    example.emplace(event.function, &event);
    count(facts.outcomes, event.phase);
  }
  for (const auto& [number, counts] : by_number) {
    facts.by_function.emplace(history.function(*example[number]), counts);
  }
  return facts;
}

std::map<std::uint64_t, Position> positions_of(const History& history,
                                               const std::set<std::uint64_t>& indexes) {
  std::map<std::uint64_t, Position> positions;
  std::set<std::uint64_t> missing;
  for (const std::uint64_t index : indexes) {  // nearly always, an event stands at its index
    if (index < history.size() && history.event(static_cast<Position>(index)).index == index) {
      positions.emplace(index, static_cast<Position>(index));
    } else {
      missing.insert(index);
    }
  }
  for (Position at = 0; !missing.empty() && at < history.size(); ++at) {
    const std::uint64_t index = history.event(at).index;
    if (missing.erase(index) > 0) positions.emplace(index, at);
  }
  return positions;
}

std::vector<const FaultSpan*> active_faults(const std::vector<FaultSpan>& spans, TimeRange range) {
  std::vector<const FaultSpan*> active;
  for (const FaultSpan& span : spans) {
    if (span.range.begin <= range.end && range.begin <= span.range.end) active.push_back(&span);
  }
  return active;
}

}  // namespace ordeal
