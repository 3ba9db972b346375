// Scalars and operations between JSON and EDN. JSON has no keywords and no keys but strings, so:
// a string that starts with ":" is a keyword; {"edn": "..."} is any form, as EDN text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "history/operation.h"

namespace ordeal {

// An operation's object as the map that Jepsen prints. Recurses: the caller bounds the nesting.
std::string operation_edn(const nlohmann::json& object);
// "" where it can be an operation, else what was expected.
std::string wrong_with(const nlohmann::json& object);

nlohmann::ordered_json operation_json(const Operation& operation);

}  // namespace ordeal
