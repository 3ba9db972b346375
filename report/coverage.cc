#include "report/coverage.h"

#include <map>
#include <tuple>

namespace ordeal {
namespace {

std::string servers(const std::string& share) {
  if (share.empty()) return "";
  return share + (share == "one" ? " server" : " servers");
}

void add(CoverageRow& row, const FaultSpan& span) {
  if (span.failed) {
    ++row.without_effect;
    return;
  }
  if (row.times == 0) row.effect = span.effect;
  ++row.times;
  row.total += span.range.end - span.range.begin;
}

}  // namespace

std::vector<CoverageRow> fault_coverage(const std::vector<FaultSpan>& spans) {
  std::map<std::tuple<std::string, std::string, std::string>, CoverageRow> rows;
  const auto add_to = [&](const FaultSpan& span, const std::string& where) {
    const std::string& direction =
        span.seen_direction.empty() ? span.direction : span.seen_direction;
    CoverageRow& row = rows[{span.fault, where, direction}];
    row.fault = span.fault;
    row.where = where;
    row.direction = direction;
    add(row, span);
  };
  for (const FaultSpan& span : spans) {
    for (const std::string& leg : span.legs) add_to(span, leg);
    if (span.legs.empty()) add_to(span, servers(span.share));
  }
  std::vector<CoverageRow> result;
  for (auto& [key, row] : rows) result.push_back(std::move(row));
  return result;
}

}  // namespace ordeal
