#include "checkers/total_queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "checkers/findings.h"
#include "checkers/single_values.h"

namespace ordeal {
namespace {

struct Element {
  std::uint64_t attempts = 0;
  std::uint64_t enqueues = 0;  // acknowledged
  std::uint64_t dequeues = 0;
  Position enqueued = kNoPosition;  // the last of each
  Position dequeued = kNoPosition;
};

std::uint64_t minus(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

class TotalQueueCheck {
 public:
  explicit TotalQueueCheck(const History& history) : history_(history), reader_(history) {}

  bool run(const std::stop_token& stop) {
    return for_each_client_event(history_, stop, [&](Position at, const Event& event) {
      const std::string_view function = history_.function(event);
      if (function == "enqueue") enqueue(at, event);
      if (function == "dequeue") dequeue(at, event);
      if (function == "drain") drain(at, event);
    });
  }

  void conclude(CheckResult& result) && {
    std::vector<Value> all;
    for (const auto& [value, element] : elements_) all.push_back(value);
    sort_values(all);
    for (const Value value : all) judge(value, elements_[value]);
    result.fields = {{"attempt-count", std::to_string(attempts_)},
                     {"acknowledged-count", std::to_string(enqueues_)}};
    result.fields["ok-count"] = std::to_string(ok_);
    for (const auto& [name, values] : lists_) {
      result.fields[name] = json_text(json_of(values));
      result.fields[name + "-count"] = std::to_string(values.size());
    }
    std::move(findings_).conclude(
        result, {"duplicated"}, unknown(),
        fmt::format("all {} acknowledged elements were dequeued", enqueues_));
  }

 private:
  // An invocation that never completed is one that ended as info.
  static bool is_open(const Event& event) {
    return event.phase == Phase::info ||
           (event.phase == Phase::invoke && event.partner == kNoPosition);
  }

  void enqueue(Position at, const Event& event) {
    const bool starts = event.phase == Phase::invoke || event.partner == kNoPosition;
    if (event.phase != Phase::ok && !starts) return;
    Element& element = elements_[starts ? reader_.invoked_value(at) : reader_.value(at)];
    if (starts) {
      ++attempts_;
      ++element.attempts;
    }
    if (event.phase != Phase::ok) return;
    ++enqueues_;
    ++element.enqueues;
    element.enqueued = at;
  }

  void dequeue(Position at, const Event& event) {
    if (is_open(event)) ++open_dequeues_;
    if (event.phase == Phase::ok) take(reader_.value(at), at);
  }

  void drain(Position at, const Event& event) {
    if (is_open(event)) open_drain_ = at;
    if (event.phase != Phase::ok) return;
    std::vector<Value> values;
    if (!reader_.elements(at, values)) open_drain_ = at;
    for (const Value value : values) take(value, at);
  }

  void take(Value value, Position at) {
    Element& element = elements_[value];
    ++element.dequeues;
    element.dequeued = at;
  }

  void judge(Value value, const Element& element) {
    const std::uint64_t ok = std::min(element.dequeues, element.attempts);
    const bool unexpected = element.attempts == 0;
    ok_ += ok;
    count("unexpected", value, unexpected ? element.dequeues : 0);
    count("duplicated", value, unexpected ? 0 : minus(element.dequeues, element.attempts));
    count("recovered", value, minus(ok, element.enqueues));
    const std::uint64_t missing = minus(element.enqueues, element.dequeues);
    const bool known = open_drain_ == kNoPosition;
    count("lost", value, known ? missing : 0);
    if (!known) undecided_ += missing;
  }

  void count(const std::string& name, Value value, std::uint64_t times) {
    lists_[name].insert(lists_[name].end(), times, value);
    if (times == 0 || name == "recovered") return;
    const Element& element = elements_[value];
    findings_.add(name, [&](Anomaly& anomaly) {
      const Position at = name == "lost" ? element.enqueued : element.dequeued;
      anomaly.operations = {history_.event(at).index};
      anomaly.values = {value};
      anomaly.explanation = explain(name, value, element);
    });
  }

  std::string explain(const std::string& name, Value value, const Element& element) const {
    if (name == "unexpected") {
      return fmt::format("operation {} dequeued {}, which nobody ever tried to enqueue",
                         history_.event(element.dequeued).index, value.text());
    }
    if (name == "duplicated") {
      return fmt::format(
          "{} was dequeued {} times, the last time by operation {}, but enqueued at "
          "most {} times",
          value.text(), element.dequeues, history_.event(element.dequeued).index, element.attempts);
    }
    std::string text =
        fmt::format("operation {} enqueued {} and was acknowledged, but it was {}",
                    history_.event(element.enqueued).index, value.text(),
                    element.dequeues == 0 ? "never dequeued" : "dequeued less often than enqueued");
    if (open_dequeues_ > 0) {
      text += fmt::format(" (unless it was taken by one of the {} dequeues whose outcome is open)",
                          open_dequeues_);
    }
    return text;
  }

  std::string unknown() const {
    if (enqueues_ == 0) return "no enqueue was acknowledged";
    if (undecided_ == 0) return "";
    return fmt::format(
        "{} acknowledged elements were not dequeued, but operation {}, a drain, does "
        "not tell what it took",
        undecided_, history_.event(open_drain_).index);
  }

  const History& history_;
  ValueReader reader_;
  std::unordered_map<Value, Element> elements_;
  std::uint64_t attempts_ = 0;
  std::uint64_t enqueues_ = 0;
  std::uint64_t open_dequeues_ = 0;
  Position open_drain_ = kNoPosition;
  std::uint64_t undecided_ = 0;  // elements that an open drain may have taken
  std::uint64_t ok_ = 0;
  std::map<std::string, std::vector<Value>> lists_ = {
      {"lost", {}}, {"unexpected", {}}, {"duplicated", {}}, {"recovered", {}}};
  Findings findings_;
};

}  // namespace

CheckResult check_total_queue(const History& history, const Options& /*options*/,
                              std::stop_token stop) {
  return check_in_one_pass("total-queue", history, TotalQueueCheck(history), stop);
}

}  // namespace ordeal
