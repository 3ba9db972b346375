#include "checkers/bank_errors.h"

#include "checkers/single_values.h"

namespace ordeal {
namespace {

std::int64_t total(const BankErrors::Json& error) { return error["total"].get<std::int64_t>(); }

}  // namespace

void BankErrors::add(const Json& error, double badness) {
  if (count_++ == 0) first_ = error;
  Summary& summary = by_type_[error["type"].get<std::string>()];
  const bool first = summary.count++ == 0;
  if (first) summary.first = error;
  if (first || badness > summary.badness) {
    summary.worst = error;
    summary.badness = badness;
  }
  summary.last = error;
  if (!error.contains("total")) return;
  if (first || total(error) < total(summary.lowest)) summary.lowest = error;
  if (first || total(error) > total(summary.highest)) summary.highest = error;
}

void BankErrors::add_fields(std::map<std::string, std::string>& fields) const {
  Json errors = Json::object();
  for (const auto& [type, summary] : by_type_) {
    errors[type] = {{"count", summary.count},
                    {"first", summary.first},
                    {"worst", summary.worst},
                    {"last", summary.last}};
    if (summary.lowest.is_null()) continue;
    errors[type]["lowest"] = summary.lowest;
    errors[type]["highest"] = summary.highest;
  }
  fields["error-count"] = std::to_string(count_);
  fields["errors"] = json_text(errors);
  if (count_ > 0) fields["first-error"] = json_text(first_);
}

}  // namespace ordeal
