#include "checkers/unique_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "checkers/findings.h"
#include "checkers/single_values.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kListedMax = 48;  // as Jepsen's

struct Uses {
  std::uint64_t count = 0;
  Position first = 0;
  Position second = 0;
};

using Ids = std::unordered_map<Value, Uses>;

void count_use(Uses& uses, Position at) {
  ++uses.count;
  if (uses.count == 1) uses.first = at;
  if (uses.count == 2) uses.second = at;
}

Json range_of(const Ids& ids) {
  if (ids.empty()) return Json::array({nullptr, nullptr});
  const auto [low, high] = std::minmax_element(
      ids.begin(), ids.end(),
      [](const auto& a, const auto& b) { return value_less(a.first, b.first); });
  return Json::array({json_of(low->first), json_of(high->first)});
}

// The most frequent ones, in order of id.
Json duplicated_json(const Ids& ids, std::vector<Value> duplicated) {
  std::sort(duplicated.begin(), duplicated.end(), [&](Value a, Value b) {
    const std::uint64_t uses_a = ids.at(a).count, uses_b = ids.at(b).count;
    return uses_a != uses_b ? uses_a > uses_b : value_less(b, a);
  });
  duplicated.resize(std::min(duplicated.size(), kListedMax));
  sort_values(duplicated);
  Json object = Json::object();
  for (const Value id : duplicated) object[id.text()] = ids.at(id).count;
  return object;
}

void report(const History& history, Value id, const Uses& uses, Findings& findings) {
  findings.add("duplicate-id", [&](Anomaly& anomaly) {
    anomaly.operations = {history.event(uses.first).index, history.event(uses.second).index};
    anomaly.values = {id};
    anomaly.explanation =
        fmt::format("operations {} and {} both generated {}, which was generated {} times in all",
                    anomaly.operations[0], anomaly.operations[1], id.text(), uses.count);
  });
}

}  // namespace

CheckResult check_unique_ids(const History& history, const Options& /*options*/,
                             std::stop_token stop) {
  CheckResult result = begin_result("unique-ids", history);
  const ValueReader reader(history);
  std::uint64_t attempted = 0;
  std::uint64_t acknowledged = 0;
  Ids ids;
  const bool finished = for_each_client_event(history, stop, [&](Position at, const Event& event) {
    if (history.function(event) != "generate") return;
    if (event.phase == Phase::invoke) ++attempted;
    if (event.phase != Phase::ok) return;
    ++acknowledged;
    count_use(ids[reader.value(at)], at);
  });
  if (!finished) return stopped_result(std::move(result));
  std::vector<Value> duplicated;
  for (const auto& [id, uses] : ids) {
    if (uses.count > 1) duplicated.push_back(id);
  }
  sort_values(duplicated);
  Findings findings;
  for (const Value id : duplicated) report(history, id, ids.at(id), findings);
  result.fields = {{"attempted-count", std::to_string(attempted)},
                   {"acknowledged-count", std::to_string(acknowledged)},
                   {"duplicated-count", std::to_string(duplicated.size())},
                   {"duplicated", json_text(duplicated_json(ids, duplicated))},
                   {"range", json_text(range_of(ids))}};
  std::move(findings).conclude(result, {}, acknowledged == 0 ? "no id was ever generated" : "",
                               fmt::format("all {} ids are different", acknowledged));
  return result;
}

}  // namespace ordeal
