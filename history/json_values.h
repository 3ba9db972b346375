// Operations as JSON; history/json_operations.h reads it, and says how what JSON lacks is written.
#pragma once

#include <nlohmann/json.hpp>

#include "history/operation.h"

namespace ordeal {

nlohmann::ordered_json operation_json(const Operation& operation);

}  // namespace ordeal
