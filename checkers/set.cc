#include "checkers/set.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "checkers/findings.h"
#include "checkers/single_values.h"

namespace ordeal {
namespace {

struct Add {
  Position acknowledged = kNoPosition;  // completion of the first that was ok
  bool attempted = false;
  bool read = false;
};

class SetCheck {
 public:
  explicit SetCheck(const History& history) : history_(history), reader_(history) {}

  bool run(const std::stop_token& stop) {
    return for_each_client_event(history_, stop, [&](Position at, const Event& event) {
      const std::string_view function = history_.function(event);
      if (function == "add" && event.phase == Phase::invoke) {
        elements_[reader_.invoked_value(at)].attempted = true;
      } else if (function == "add" && event.phase == Phase::ok) {
        Add& add = elements_[reader_.value(at)];
        add.attempted = true;
        if (add.acknowledged == kNoPosition) add.acknowledged = at;
      } else if (function == "read" && event.phase == Phase::ok) {
        final_ = at;
      }
    });
  }

  void conclude(CheckResult& result) && {
    std::string unknown = final_read();
    if (unknown.empty()) unknown = compare(result);
    std::move(findings_).conclude(
        result, {}, unknown,
        fmt::format("the final read has all {} elements whose add was acknowledged",
                    acknowledged_));
  }

 private:
  std::uint64_t index(Position at) const { return history_.event(at).index; }

  // Marks what it read. Returns why it can't be judged, "" where it can.
  std::string final_read() {
    if (final_ == kNoPosition) return "the set was never read";
    std::vector<Value> elements;
    if (!reader_.elements(final_, elements)) {
      return fmt::format("operation {}, the final read, returned {}, which is no set or list",
                         index(final_), reader_.value(final_).text());
    }
    if (elements.empty() && reader_.value(final_).is_nil()) {
      return fmt::format("operation {}, the final read, returned nil", index(final_));
    }
    for (const Value element : elements) elements_[element].read = true;
    return "";
  }

  std::string compare(CheckResult& result) {
    std::vector<Value> all;
    for (const auto& [element, add] : elements_) all.push_back(element);
    sort_values(all);
    std::vector<Value> ok, lost, unexpected, recovered;
    std::uint64_t too_late = 0;
    for (const Value element : all) {
      const Add& add = elements_[element];
      const bool acknowledged = add.acknowledged != kNoPosition;
      attempted_ += add.attempted ? 1 : 0;
      acknowledged_ += acknowledged ? 1 : 0;
      if (add.read && add.attempted) ok.push_back(element);
      if (add.read && add.attempted && !acknowledged) recovered.push_back(element);
      if (add.read && !add.attempted) unexpected.push_back(element);
      if (!acknowledged || add.read) continue;
      if (began_after(add)) {
        ++too_late;
      } else {
        lost.push_back(element);
      }
    }
    for (const Value element : lost) report_lost(element);
    for (const Value element : unexpected) report_unexpected(element);
    result.fields = {{"attempt-count", std::to_string(attempted_)},
                     {"acknowledged-count", std::to_string(acknowledged_)}};
    add_field(result, "ok", ok);
    add_field(result, "lost", lost);
    add_field(result, "unexpected", unexpected);
    add_field(result, "recovered", recovered);
    if (too_late == 0) return "";
    return fmt::format("{} of the elements were acknowledged only after the final read had begun",
                       too_late);
  }

  // Whether the final read began before the add was acknowledged.
  bool began_after(const Add& add) const {
    const Position invoked = history_.event(final_).partner;
    return invoked == kNoPosition ? add.acknowledged > final_ : add.acknowledged > invoked;
  }

  static void add_field(CheckResult& result, const std::string& name,
                        const std::vector<Value>& elements) {
    result.fields[name + "-count"] = std::to_string(elements.size());
    result.fields[name] = json_text(interval_set(elements));
  }

  void report_lost(Value element) {
    findings_.add("lost", [&](Anomaly& anomaly) {
      const std::uint64_t added = index(elements_[element].acknowledged);
      anomaly.operations = {added, index(final_)};
      anomaly.values = {element};
      anomaly.explanation = fmt::format(
          "operation {} added {} and was acknowledged, but the final read, operation {}, lacks it",
          added, element.text(), index(final_));
    });
  }

  void report_unexpected(Value element) {
    findings_.add("unexpected", [&](Anomaly& anomaly) {
      anomaly.operations = {index(final_)};
      anomaly.values = {element};
      anomaly.explanation =
          fmt::format("the final read, operation {}, has {}, which nobody ever tried to add",
                      index(final_), element.text());
    });
  }

  const History& history_;
  ValueReader reader_;
  std::unordered_map<Value, Add> elements_;
  Position final_ = kNoPosition;  // completion of the last ok read
  std::uint64_t attempted_ = 0;
  std::uint64_t acknowledged_ = 0;
  Findings findings_;
};

}  // namespace

CheckResult check_set(const History& history, const Options& /*options*/, std::stop_token stop) {
  return check_in_one_pass("set", history, SetCheck(history), stop);
}

}  // namespace ordeal
