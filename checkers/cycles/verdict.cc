#include "checkers/cycles/verdict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkers/cycles/explain.h"
#include "checkers/cycles/models.h"

namespace ordeal::cycles {
namespace {

// Types that were found, by whether the model rules them out.
void sort_types(CheckResult& result) {
  for (const auto& [type, count] : result.anomaly_counts) {
    auto& list = rules_out(type, result.model) ? result.anomaly_types : result.anomaly_types_beyond;
    list.push_back(type);
  }
  // Those that the model rules out come first.
  std::stable_partition(
      result.anomalies.begin(), result.anomalies.end(),
      [&](const Anomaly& anomaly) { return rules_out(anomaly.type, result.model); });
}

void find_boundary(CheckResult& result, const DirectReport& single_keys) {
  std::vector<std::string> types;
  for (const auto& [type, count] : result.anomaly_counts) types.push_back(type);
  for (const auto& [type, count] : single_keys.counts) types.push_back(type);
  Boundary left = boundary(types);
  result.weakest_violated = std::move(left.weakest_violated);
  result.all_violated = std::move(left.all_violated);
  result.strongest_possible = std::move(left.strongest_possible);
}

void tell_single_keys(CheckResult& result, DirectReport single_keys) {
  for (const auto& [type, count] : single_keys.counts) {
    if (!rules_out(type, result.model)) continue;
    result.anomaly_types.push_back(type);
    result.anomaly_counts.emplace(type, count);
  }
  const auto told = std::stable_partition(
      single_keys.examples.begin(), single_keys.examples.end(),
      [&](const Anomaly& anomaly) { return rules_out(anomaly.type, result.model); });
  result.anomalies.insert(result.anomalies.begin(), single_keys.examples.begin(), told);
}

void conclude(CheckResult& result, const std::string& doubt) {
  if (!result.anomaly_types.empty()) {
    result.validity = Validity::invalid;
    std::vector<std::string> types = result.anomaly_types;
    std::stable_sort(types.begin(), types.end(), more_severe);
    result.reason =
        fmt::format("found {}, which {} rules out", fmt::join(types, ", "), result.model);
  } else if (!doubt.empty()) {
    result.validity = Validity::unknown;
    result.reason = doubt;
    result.strongest_possible.clear();
  } else {
    result.validity = Validity::valid;
    result.reason = fmt::format("no anomaly that {} rules out in {} committed transactions",
                                result.model, result.transactions.ok);
  }
}

}  // namespace

std::string nothing_to_judge(const OutcomeCounts& transactions) {
  if (transactions.ok > 0) return "";
  return "no transaction is known to have committed, so there was nothing to judge";
}

void judge_unknown(CheckResult& result, std::string why) { conclude(result, why); }

void judge(CheckResult& result, const Dependencies& dependencies, DirectReport direct,
           const CycleReport& cycles, DirectReport single_keys, std::string doubt) {
  result.anomaly_counts = std::move(direct.counts);
  result.anomaly_counts.insert(cycles.counts.begin(), cycles.counts.end());
  for (const auto& [type, examples] : cycles.examples) {
    for (const Cycle& cycle : examples) {
      result.anomalies.push_back(explain_cycle(dependencies, cycle));
    }
  }
  std::stable_sort(direct.examples.begin(), direct.examples.end(),
                   [](const Anomaly& a, const Anomaly& b) { return a.type < b.type; });
  std::move(direct.examples.begin(), direct.examples.end(), std::back_inserter(result.anomalies));
  sort_types(result);
  find_boundary(result, single_keys);
  if (result.anomaly_types.empty()) tell_single_keys(result, std::move(single_keys));
  if (cycles.stopped) doubt = "stopped on request before the analysis was complete";
  conclude(result, doubt);
}

}  // namespace ordeal::cycles
