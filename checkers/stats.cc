#include "checkers/stats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "checkers/outcomes.h"

namespace ordeal {
namespace {

nlohmann::json to_json(const OutcomeCounts& counts) {
  return {{"count", counts.ok + counts.fail + counts.info},
          {"ok-count", counts.ok},
          {"fail-count", counts.fail},
          {"info-count", counts.info}};
}

}  // namespace

std::span<const OptionSpec> stats_options() { return {}; }

CheckResult check_stats(const History& history, const Options& /*options*/,
                        std::stop_token /*stop*/) {
  const auto start = std::chrono::steady_clock::now();
  CheckResult result;
  result.checker = "stats";
  result.operations = history.size();
  result.transactions = count_outcomes(history);
  nlohmann::json by_function = nlohmann::json::object();
  std::vector<std::string> never_ok;
  for (const auto& [function, counts] : count_outcomes_by_function(history)) {
    by_function[function] = to_json(counts);
    if (counts.ok == 0) never_ok.push_back(function);
  }
  result.fields["by-f"] = by_function.dump();
  const OutcomeCounts& all = result.transactions;
  if (all.ok == 0) {
    result.reason = "no operation succeeded";
  } else if (!never_ok.empty()) {
    result.reason = fmt::format("never succeeded: {}", fmt::join(never_ok, ", "));
  } else {
    result.validity = Validity::valid;
    result.reason = fmt::format("{} ok, {} fail, {} info", all.ok, all.fail, all.info);
  }
  result.check_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace ordeal
