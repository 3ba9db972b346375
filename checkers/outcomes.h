// How the clients' operations ended. An invocation that never completed counts as info.
#pragma once

#include <map>
#include <string>

#include "checkers/checker.h"

namespace ordeal {

OutcomeCounts count_outcomes(const History& history);
std::map<std::string, OutcomeCounts> count_outcomes_by_function(const History& history);

}  // namespace ordeal
