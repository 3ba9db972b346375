#include "checkers/stats.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "checkers/findings.h"
#include "checkers/outcomes.h"
#include "checkers/single_values.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const OutcomeCounts& counts) {
  return {{"valid", counts.ok > 0 ? Json(true) : Json("unknown")},
          {"count", counts.ok + counts.fail + counts.info},
          {"ok-count", counts.ok},
          {"fail-count", counts.fail},
          {"info-count", counts.info}};
}

std::map<std::string, std::string> fields_of(const OutcomeCounts& all, const Json& by_function) {
  return {{"count", std::to_string(all.ok + all.fail + all.info)},
          {"ok-count", std::to_string(all.ok)},
          {"fail-count", std::to_string(all.fail)},
          {"info-count", std::to_string(all.info)},
          {"by-f", json_text(by_function)}};
}

}  // namespace

std::span<const OptionSpec> stats_options() { return {}; }

CheckResult check_stats(const History& history, const Options& /*options*/,
                        std::stop_token /*stop*/) {
  CheckResult result = begin_result("stats", history);
  Json by_function = Json::object();
  std::vector<std::string> never_ok;
  for (const auto& [function, counts] : count_outcomes_by_function(history)) {
    by_function[function] = to_json(counts);
    if (counts.ok == 0) never_ok.push_back(function);
  }
  const OutcomeCounts& all = result.transactions;
  result.fields = fields_of(all, by_function);
  if (all.ok == 0) {
    result.reason = "no operation succeeded";
  } else if (!never_ok.empty()) {
    result.reason = fmt::format("never succeeded: {}", fmt::join(never_ok, ", "));
  } else {
    result.validity = Validity::valid;
    result.reason = fmt::format("{} ok, {} fail, {} info", all.ok, all.fail, all.info);
  }
  return result;
}

}  // namespace ordeal
