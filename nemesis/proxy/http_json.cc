#include "nemesis/proxy/http_json.h"

#include <cmath>

namespace ordeal::proxy {
namespace {

using nlohmann::json;

json number(double value) {
  if (std::nearbyint(value) == value && std::abs(value) < 9e15) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

const json* find(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// Throws like the library itself would, naming what was expected.
void expect(bool fits, const json& value, const char* expected) {
  if (fits) return;
  throw json::type_error::create(
      302, std::string("type must be ") + expected + ", but is " + value.type_name(), &value);
}

}  // namespace

json to_json(const Toxic& toxic) {
  json attributes = json::object();
  for (const auto& [name, value] : toxic.attributes) attributes[name] = number(value);
  return {{"name", toxic.name},
          {"type", toxic.type},
          {"stream", direction_name(toxic.direction)},
          {"toxicity", number(toxic.toxicity)},
          {"attributes", std::move(attributes)}};
}

json to_json(const LegInfo& leg) {
  json toxics = json::array();
  for (const Toxic& toxic : leg.toxics) toxics.push_back(to_json(toxic));
  json out = {{"name", leg.spec.name},
              {"listen", leg.spec.listen},
              {"upstream", leg.spec.upstream},
              {"enabled", leg.spec.mode == LegMode::enabled},
              {"toxics", std::move(toxics)}};
  if (leg.spec.mode == LegMode::reset) out["mode"] = mode_name(leg.spec.mode);
  return out;
}

json parse_body(std::string_view body, bool array) {
  json parsed = json::parse(body);
  if (!array) {
    expect(parsed.is_object(), parsed, "object");
    return parsed;
  }
  expect(parsed.is_array(), parsed, "array");
  for (const json& each : parsed) expect(each.is_object(), each, "object");
  return parsed;
}

std::optional<std::string> read_text(const json& object, const char* key) {
  const json* value = find(object, key);
  return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
}

std::optional<double> read_toxicity(const json& object) {
  const json* value = find(object, "toxicity");
  if (value == nullptr) return std::nullopt;
  expect(value->is_number(), *value, "number");
  return value->get<double>();
}

Attributes read_attributes(const json& object) {
  Attributes attributes;
  const json* given = find(object, "attributes");
  if (given == nullptr) return attributes;
  expect(given->is_object(), *given, "object");
  for (const auto& [name, value] : given->items()) {
    expect(value.is_number(), value, ("number (attribute " + name + ")").c_str());
    attributes[name] = value.get<double>();
  }
  return attributes;
}

Result<Toxic> read_toxic(const json& object) {
  Toxic toxic;
  toxic.name = read_text(object, "name").value_or("");
  toxic.type = read_text(object, "type").value_or("");
  if (const auto stream = read_text(object, "stream"); stream && !stream->empty()) {
    ORDEAL_TRY_ASSIGN(toxic.direction, parse_direction(*stream));
  }
  toxic.toxicity = read_toxicity(object).value_or(1);
  toxic.attributes = read_attributes(object);
  return completed(std::move(toxic));
}

Result<std::optional<LegMode>> read_mode(const json& object) {
  std::optional<LegMode> mode;
  if (const json* enabled = find(object, "enabled")) {
    mode = enabled->get<bool>() ? LegMode::enabled : LegMode::refuse;
  }
  if (const auto named = read_text(object, "mode"); named && mode != LegMode::enabled) {
    ORDEAL_TRY_ASSIGN(mode, parse_mode(*named));
  }
  return mode;
}

}  // namespace ordeal::proxy
