// Each ok :generate returns an identifier that no other returned. After jepsen.checker/unique-ids,
// whose result fields it has. Anomaly: duplicate-id.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

CheckResult check_unique_ids(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
