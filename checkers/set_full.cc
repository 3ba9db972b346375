#include "checkers/set_full.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "checkers/findings.h"
#include "checkers/set_timeline.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kWorstMax = 8;  // as Jepsen's

// Positions compare like Jepsen's indexes; "never" comes before all.
bool before(Position a, Position b) { return b != kNoPosition && (a == kNoPosition || a < b); }

bool is_stable(const SetElement& element) {
  return before(element.last_absent, element.last_present);
}

bool is_lost(const SetElement& element) {
  return element.known != kNoPosition && before(element.last_present, element.last_absent) &&
         element.known < element.last_absent;
}

bool was_stale(const SetElement& element) {
  return is_stable(element) && before(element.known, element.last_absent);
}

Json quantiles(std::vector<std::int64_t> latencies) {
  std::sort(latencies.begin(), latencies.end());
  Json object = Json::object();
  for (const auto& [name, point] :
       {std::pair{"0", 0.0}, {"0.5", 0.5}, {"0.95", 0.95}, {"0.99", 0.99}, {"1", 1.0}}) {
    const auto at = static_cast<std::size_t>(static_cast<double>(latencies.size()) * point);
    object[name] = latencies[std::min(at, latencies.size() - 1)];
  }
  return object;
}

class SetFullCheck {
 public:
  SetFullCheck(const History& history, bool linearizable)
      : history_(history), linearizable_(linearizable), timeline_(history) {}

  bool run(const std::stop_token& stop) { return timeline_.run(stop); }

  void conclude(CheckResult& result) && {
    std::vector<SetElement> elements = timeline_.elements();
    std::sort(elements.begin(), elements.end(), [](const SetElement& a, const SetElement& b) {
      return value_less(a.value, b.value);
    });
    for (const SetElement& element : elements) judge(element);
    result.fields["attempt-count"] = std::to_string(elements.size());
    result.fields["stable-count"] = std::to_string(stable_latencies_.size());
    add_list(result, "lost", lost_);
    add_list(result, "never-read", never_read_);
    add_stale(result);
    add_duplicates(result);
    if (!stable_latencies_.empty()) {
      result.fields["stable-latencies"] = json_text(quantiles(stable_latencies_));
    }
    if (!lost_latencies_.empty()) {
      result.fields["lost-latencies"] = json_text(quantiles(lost_latencies_));
    }
    std::vector<std::string> harmless;
    if (!linearizable_) harmless.emplace_back("stale");
    std::move(findings_).conclude(result, harmless, unknown(),
                                  fmt::format("{} of {} elements are stable, none is lost",
                                              stable_latencies_.size(), elements.size()));
  }

 private:
  struct Stale {
    SetElement element;
    std::int64_t latency_ms = 0;
  };

  std::uint64_t index(Position at) const { return history_.event(at).index; }
  std::uint64_t completion(Position invoked) const {
    const Position partner = history_.event(invoked).partner;
    return index(partner == kNoPosition ? invoked : partner);
  }

  // Milliseconds from when the element was known until just after `last` began.
  std::int64_t latency_ms(const SetElement& element, Position last) const {
    const std::int64_t until = last == kNoPosition ? 0 : history_.event(last).time_ns + 1;
    return std::max<std::int64_t>(0, until - history_.event(element.known).time_ns) / 1'000'000;
  }

  void judge(const SetElement& element) {
    if (is_stable(element)) {
      const std::int64_t latency = latency_ms(element, element.last_absent);
      stable_latencies_.push_back(latency);
      if (latency > 0) stale_.push_back({element, latency});
      if (was_stale(element)) report_stale(element);
    } else if (is_lost(element)) {
      lost_latencies_.push_back(latency_ms(element, element.last_present));
      lost_.push_back(element.value);
      report_lost(element);
    } else {
      never_read_.push_back(element.value);
    }
  }

  void report_lost(const SetElement& element) {
    findings_.add("lost", [&](Anomaly& anomaly) {
      const std::uint64_t known = index(element.known);
      const std::uint64_t absent = completion(element.last_absent);
      const bool read = element.last_present != kNoPosition;
      anomaly.operations = {known, absent};
      anomaly.values = {element.value};
      anomaly.explanation = fmt::format(
          "{} was in the set when operation {} completed, but operation {}, which began later, "
          "did not read it, and {}",
          element.value.text(), known, absent,
          read ? fmt::format("no read that began after that of operation {} did",
                             completion(element.last_present))
               : "no other read did");
    });
  }

  void report_stale(const SetElement& element) {
    findings_.add("stale", [&](Anomaly& anomaly) {
      const std::uint64_t known = index(element.known);
      const std::uint64_t absent = completion(element.last_absent);
      anomaly.operations = {known, absent, completion(element.last_present)};
      anomaly.values = {element.value};
      anomaly.explanation = fmt::format(
          "{} was in the set when operation {} completed, but operation {}, which began later, "
          "did not read it; operation {} did again",
          element.value.text(), known, absent, anomaly.operations.back());
    });
  }

  static void add_list(CheckResult& result, const std::string& name,
                       const std::vector<Value>& values) {
    result.fields[name] = json_text(json_of(values));
    result.fields[name + "-count"] = std::to_string(values.size());
  }

  void add_stale(CheckResult& result) {
    std::vector<Value> values;
    for (const Stale& stale : stale_) values.push_back(stale.element.value);
    add_list(result, "stale", values);
    std::reverse(stale_.begin(), stale_.end());  // of equally stale ones, Jepsen has the last first
    std::stable_sort(stale_.begin(), stale_.end(),
                     [](const Stale& a, const Stale& b) { return a.latency_ms > b.latency_ms; });
    Json worst = Json::array();
    for (std::size_t at = 0; at < std::min(kWorstMax, stale_.size()); ++at) {
      const SetElement& element = stale_[at].element;
      worst.push_back({{"element", json_of(element.value)},
                       {"outcome", "stable"},
                       {"stable-latency", stale_[at].latency_ms},
                       {"lost-latency", nullptr},
                       {"known", index(element.known)},
                       {"last-absent", index(element.last_absent)}});
    }
    result.fields["worst-stale"] = json_text(worst);
  }

  void add_duplicates(CheckResult& result) {
    std::vector<Value> values;
    for (const auto& [value, duplicate] : timeline_.duplicates()) values.push_back(value);
    sort_values(values);
    Json object = Json::object();
    for (const Value value : values) {
      const SetDuplicate& duplicate = timeline_.duplicates().at(value);
      object[value.text()] = duplicate.times;
      findings_.add("duplicated", [&](Anomaly& anomaly) {
        anomaly.operations = {index(duplicate.read)};
        anomaly.values = {value};
        anomaly.explanation = fmt::format("operation {} read {} {} times", index(duplicate.read),
                                          value.text(), duplicate.times);
      });
    }
    result.fields["duplicated"] = json_text(object);
    result.fields["duplicated-count"] = std::to_string(values.size());
  }

  std::string unknown() const {
    const Position unreadable = timeline_.unreadable();
    if (unreadable != kNoPosition) {
      return fmt::format("operation {} read something that is no set or list", index(unreadable));
    }
    return stable_latencies_.empty() ? "no element is known to have stayed in the set" : "";
  }

  const History& history_;
  bool linearizable_;
  SetTimeline timeline_;
  std::vector<std::int64_t> stable_latencies_;  // ms
  std::vector<std::int64_t> lost_latencies_;
  std::vector<Value> lost_;
  std::vector<Value> never_read_;
  std::vector<Stale> stale_;
  Findings findings_;
};

}  // namespace

std::span<const OptionSpec> set_full_options() {
  static constexpr std::array kOptions = {
      OptionSpec{"linearizable", OptionType::boolean, "false",
                 "whether a read must have every element that was known when it began"},
  };
  return kOptions;
}

CheckResult check_set_full(const History& history, const Options& options, std::stop_token stop) {
  return check_in_one_pass("set-full", history,
                           SetFullCheck(history, options.boolean("linearizable")), stop);
}

}  // namespace ordeal
