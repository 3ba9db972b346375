#include "checkers/counter.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "checkers/findings.h"
#include "checkers/single_values.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;
using Read = std::array<std::int64_t, 3>;  // lower bound, value, upper bound

// Sums of positive and of negative amounts apart: an open add moves one bound only.
struct Sums {
  std::int64_t positive = 0;
  std::int64_t negative = 0;

  bool add(std::int64_t amount) {
    std::int64_t& sum = amount < 0 ? negative : positive;
    return !__builtin_add_overflow(sum, amount, &sum);
  }
};

class CounterCheck {
 public:
  explicit CounterCheck(const History& history) : history_(history), reader_(history) {}

  bool run(const std::stop_token& stop) {
    return for_each_client_event(history_, stop, [&](Position at, const Event& event) {
      const std::string_view function = history_.function(event);
      if (function == "add") {
        add(at, event);
      } else if (function == "read" && event.phase == Phase::invoke) {
        pending_[at] = done_;
      } else if (function == "read" && event.phase == Phase::ok) {
        read(at, event);
      }
    });
  }

  void conclude(CheckResult& result) && {
    result.fields = {{"reads", json_text(Json(reads_))}, {"errors", json_text(Json(errors_))}};
    if (reads_.empty() && unknown_.empty()) unknown_ = "the counter was never read";
    std::move(findings_).conclude(result, {}, unknown_,
                                  fmt::format("all {} reads are within bounds", reads_.size()));
  }

 private:
  void not_judged(Position at, std::string_view why) {
    if (!unknown_.empty()) return;
    const Event& event = history_.event(at);
    unknown_ = fmt::format("operation {}, {} {}, was not judged: {}", event.index,
                           history_.function(event), reader_.value(at).text(), why);
  }

  void add(Position at, const Event& event) {
    const bool paired = event.partner != kNoPosition;
    const bool starts = event.phase == Phase::invoke || !paired;
    if (event.phase == Phase::fail || event.phase == Phase::info) return;
    if (starts && paired && history_.event(event.partner).phase == Phase::fail) return;
    const Value amount = starts ? reader_.invoked_value(at) : reader_.value(at);
    if (!amount.is_integer()) return not_judged(at, "expected an integer");
    bool fits = !starts || begun_.add(amount.integer());
    if (event.phase == Phase::ok) fits = done_.add(amount.integer()) && fits;
    if (!fits) not_judged(at, "the sum has more than 64 bits");
  }

  void read(Position at, const Event& event) {
    const Value value = reader_.value(at);
    if (!value.is_integer()) return not_judged(at, "expected an integer");
    const auto pending = pending_.find(event.partner);
    const Sums before = pending == pending_.end() ? Sums{} : pending->second;
    if (pending != pending_.end()) pending_.erase(pending);
    Read read = {0, value.integer(), 0};
    if (__builtin_add_overflow(before.positive, begun_.negative, &read[0]) ||
        __builtin_add_overflow(begun_.positive, before.negative, &read[2])) {
      return not_judged(at, "the sum has more than 64 bits");
    }
    reads_.push_back(read);
    if (read[1] < read[0]) report("below-lower-bound", event, read);
    if (read[1] > read[2]) report("above-upper-bound", event, read);
  }

  void report(std::string_view type, const Event& event, const Read& read) {
    errors_.push_back(read);
    findings_.add(type, [&](Anomaly& anomaly) {
      anomaly.operations = {event.index};
      anomaly.values = {Value(read[1])};
      anomaly.explanation =
          read[1] < read[0]
              ? fmt::format(
                    "operation {} read {}, but the adds that had completed when it began "
                    "make at least {}",
                    event.index, read[1], read[0])
              : fmt::format(
                    "operation {} read {}, but the adds that had begun when it completed "
                    "make at most {}",
                    event.index, read[1], read[2]);
    });
  }

  const History& history_;
  ValueReader reader_;
  Sums begun_;                                  // adds that did not fail
  Sums done_;                                   // ok adds
  std::unordered_map<Position, Sums> pending_;  // invoked reads -> done_ at the time
  std::vector<Read> reads_;
  std::vector<Read> errors_;
  std::string unknown_;
  Findings findings_;
};

}  // namespace

CheckResult check_counter(const History& history, const Options& /*options*/,
                          std::stop_token stop) {
  return check_in_one_pass("counter", history, CounterCheck(history), stop);
}

}  // namespace ordeal
