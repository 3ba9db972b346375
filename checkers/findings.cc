#include "checkers/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkers/outcomes.h"

namespace ordeal {

std::uint64_t Findings::count(const std::string& type) const {
  const auto found = counts_.find(type);
  return found == counts_.end() ? 0 : found->second;
}

void Findings::conclude(CheckResult& result, const std::vector<std::string>& harmless,
                        const std::string& unknown_because, const std::string& valid_because) && {
  const auto is_harmless = [&](const std::string& type) {
    return std::find(harmless.begin(), harmless.end(), type) != harmless.end();
  };
  std::vector<std::string> totals;
  for (const auto& [type, count] : counts_) {
    (is_harmless(type) ? result.anomaly_types_beyond : result.anomaly_types).push_back(type);
    if (!is_harmless(type)) totals.push_back(fmt::format("{} {}", count, type));
  }
  const auto first = std::find_if(examples_.begin(), examples_.end(), [&](const Anomaly& anomaly) {
    return !is_harmless(anomaly.type);
  });
  if (first != examples_.end()) {
    result.validity = Validity::invalid;
    result.reason = fmt::format("{}; first: {}", fmt::join(totals, ", "), first->explanation);
  } else if (!unknown_because.empty()) {
    result.reason = unknown_because;
  } else {
    result.validity = Validity::valid;
    result.reason = valid_because;
  }
  result.anomaly_counts = std::move(counts_);
  result.anomalies = std::move(examples_);
}

CheckResult begin_result(std::string_view checker, const History& history) {
  CheckResult result;
  result.checker = checker;
  result.operations = history.size();
  result.transactions = count_outcomes(history);
  return result;
}

CheckResult stopped_result(CheckResult result) {
  result.reason = "stopped on request before the analysis was complete";
  return result;
}

}  // namespace ordeal
