#include "report/verdict_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;

// An EDN string's text is valid JSON but for EDN's fewer escapes, so JSON's parser unquotes it;
// what it refuses stays as it stands in the history, quotes included.
Json json_of_symbol(const std::string& edn) {
  if (edn == "nil") return nullptr;
  if (edn == "true" || edn == "false") return edn == "true";
  const Json parsed = Json::parse(edn, nullptr, /*allow_exceptions=*/false);
  return parsed.is_string() || parsed.is_number_integer() ? parsed : Json(edn);
}

Json json_of(Value value) {
  return value.is_integer() ? Json(value.integer()) : json_of_symbol(value.text());
}

Json json_of(Validity validity) {
  if (validity == Validity::unknown) return "unknown";
  return validity == Validity::valid;
}

Json json_of(const OutcomeCounts& counts) {
  return {{"ok", counts.ok}, {"fail", counts.fail}, {"info", counts.info}};
}

Json json_of(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value value : values) array.push_back(json_of(value));
  return array;
}

void set_if_known(Json& object, const char* name, const std::optional<Value>& value) {
  if (value) object[name] = json_of(*value);
}

Json json_of(const Step& step) {
  Json object = {{"from", step.from}, {"to", step.to}, {"edge", step.edge}};
  set_if_known(object, "key", step.key);
  set_if_known(object, "value", step.value);
  set_if_known(object, "next_value", step.next_value);
  if (!step.explanation.empty()) object["explanation"] = step.explanation;
  return object;
}

Json json_of(const Anomaly& anomaly) {
  Json object = {{"type", anomaly.type},
                 {"models_violated", anomaly.models_violated},
                 {"explanation", anomaly.explanation}};
  object["steps"] = Json::array();
  for (const Step& step : anomaly.steps) object["steps"].push_back(json_of(step));
  if (!anomaly.operations.empty()) object["operations"] = anomaly.operations;
  set_if_known(object, "key", anomaly.key);
  if (!anomaly.values.empty()) object["values"] = json_of(anomaly.values);
  return object;
}

Json json_of(const std::vector<Anomaly>& anomalies) {
  Json array = Json::array();
  for (const Anomaly& anomaly : anomalies) array.push_back(json_of(anomaly));
  return array;
}

// A checker's own fields never replace one of the contract.
void add_own_fields(Json& object, const std::map<std::string, std::string>& fields) {
  for (const auto& [name, text] : fields) {
    if (object.contains(name)) continue;
    Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    object[name] = value.is_discarded() ? Json(text) : std::move(value);
  }
}

void add_findings(Json& object, const CheckResult& result) {
  object["anomaly_types"] = result.anomaly_types;
  if (!result.anomaly_types_beyond.empty()) {
    object["anomaly_types_beyond"] = result.anomaly_types_beyond;
  }
  object["anomaly_counts"] = Json::object();
  for (const auto& [type, count] : result.anomaly_counts) object["anomaly_counts"][type] = count;
  object["anomalies"] = json_of(result.anomalies);
  object["weakest_violated"] = result.weakest_violated;
  object["all_violated"] = result.all_violated;
  object["strongest_possible"] = result.strongest_possible;
}

Json json_of(const Judgement& judgement) {
  const CheckResult& result = judgement.result;
  Json object = {{"file", judgement.file},
                 {"checker", result.checker},
                 {"model", result.model},
                 {"valid", json_of(result.validity)}};
  if (!result.reason.empty()) object["reason"] = result.reason;
  object["operations"] = result.operations;
  object["transactions"] = json_of(result.transactions);
  add_findings(object, result);
  object["seconds"] = {{"read", judgement.read_seconds}, {"check", result.check_seconds}};
  if (!judgement.warnings.empty()) object["warnings"] = judgement.warnings;
  add_own_fields(object, result.fields);
  return object;
}

Json json_of(const CoverageRow& row) {
  Json object = {{"fault", row.fault}, {"where", row.where}};
  if (!row.direction.empty()) object["direction"] = row.direction;
  object["times"] = row.times;
  object["without_effect"] = row.without_effect;
  object["seconds"] = std::chrono::duration<double>(row.total).count();
  if (!row.effect.empty()) object["effect"] = row.effect;
  return object;
}

Json json_of_run(const RunVerdict& verdict) {
  Json run = {{"campaign", verdict.campaign},
              {"seed", verdict.seed},
              {"command", verdict.command},
              {"started", verdict.started},
              {"duration_seconds", static_cast<double>(verdict.duration.count()) / 1000.0}};
  run["valid"] = json_of(verdict.overall);
  run["reason"] = verdict.reason;
  run["outcomes"] = json_of(verdict.outcomes);
  run["faults"] = Json::object();
  for (const auto& [fault, count] : verdict.fault_counts) run["faults"][fault] = count;
  run["coverage"] = Json::array();
  for (const CoverageRow& row : verdict.coverage) run["coverage"].push_back(json_of(row));
  run["vacuity"] = verdict.vacuity;
  run["versions"] = Json::object();
  for (const auto& [name, version] : verdict.versions) run["versions"][name] = version;
  run["log_files"] = verdict.log_files;
  return run;
}

std::string print(const Json& json, bool pretty) {
  return json.dump(pretty ? 2 : -1, ' ', /*ensure_ascii=*/false,
                   nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string verdict_json(const Judgement& judgement, bool pretty) {
  return print(json_of(judgement), pretty);
}

std::string verdict_json(const RunVerdict& verdict, bool pretty) {
  Json object = json_of(verdict.judgements.empty() ? Judgement() : verdict.judgements.front());
  object["valid"] = json_of(verdict.overall);
  if (!verdict.reason.empty()) object["reason"] = verdict.reason;
  object["run"] = json_of_run(verdict);
  if (verdict.judgements.size() > 1) {
    object["checkers"] = Json::array();
    for (const Judgement& judgement : verdict.judgements) {
      object["checkers"].push_back(json_of(judgement));
    }
  }
  return print(object, pretty);
}

std::string error_json(const Error& error) {
  const nlohmann::ordered_json json = {{"valid", "unknown"}, {"error", error.message}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace ordeal
