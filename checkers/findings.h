// What a checker found wrong, counted by type, with the first few of each type explained.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkers/checker.h"

namespace ordeal {

class Findings {
 public:
  // `complete` gets the Anomaly and fills in operations, values, explanation, ...; it is called
  // only for those that are kept as examples.
  template <std::invocable<Anomaly&> Complete>
  void add(std::string_view type, Complete&& complete) {
    std::uint64_t& count = counts_.try_emplace(std::string(type)).first->second;
    if (++count > kExamplesMax) return;
    Anomaly& anomaly = examples_.emplace_back();
    anomaly.type = type;
    complete(anomaly);
  }
  std::uint64_t count(const std::string& type) const;

  // Sets anomalies, validity and reason of a check that ran to its end. Types listed in `harmless`
  // are reported and decide nothing. Without others: unknown where `unknown_because` is not empty,
  // else valid with the reason `valid_because`.
  void conclude(CheckResult& result, const std::vector<std::string>& harmless,
                const std::string& unknown_because, const std::string& valid_because) &&;

 private:
  static constexpr std::uint64_t kExamplesMax = 4;  // of a type

  std::map<std::string, std::uint64_t> counts_;
  std::vector<Anomaly> examples_;
};

// With name, number of operations and outcomes filled in.
CheckResult begin_result(std::string_view checker, const History& history);
// `result` as of a check that was stopped on request: unknown.
CheckResult stopped_result(CheckResult result);

// Carries out a check in one pass: `check.run(stop)` reads the history, and says whether it came to
// the end; then `check.conclude(result)` judges.
template <class Check>
CheckResult check_in_one_pass(std::string_view checker, const History& history, Check check,
                              const std::stop_token& stop) {
  CheckResult result = begin_result(checker, history);
  if (!check.run(stop)) return stopped_result(std::move(result));
  std::move(check).conclude(result);
  return result;
}

}  // namespace ordeal
