// Legs and toxics as the JSON of toxiproxy's API. For .cc files of this directory only.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "nemesis/proxy/proxy.h"

namespace ordeal::proxy {

nlohmann::json to_json(const Toxic& toxic);
nlohmann::json to_json(const LegInfo& leg);

// These throw nlohmann::json::exception where a field has the wrong type.

// `base` with what `json` sets: name, type, stream, toxicity, attributes.
Result<Toxic> read_toxic(const nlohmann::json& json);
Attributes read_attributes(const nlohmann::json& json);
std::optional<double> read_toxicity(const nlohmann::json& json);
// `enabled` and `mode`; the latter says how a leg is disabled.
Result<std::optional<LegMode>> read_mode(const nlohmann::json& json);
// Absent or null: nothing.
std::optional<std::string> read_text(const nlohmann::json& json, const char* key);
// Fails unless `body` is an object or, with `array`, an array of objects.
nlohmann::json parse_body(std::string_view body, bool array = false);

}  // namespace ordeal::proxy
