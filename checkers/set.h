// Elements are added to a set, and at the end the set is read: it must hold each element whose add
// was acknowledged, and none that nobody tried to add. After jepsen.checker/set, whose result
// fields it has. Only the last ok :read counts. Anomalies:
//   lost        added and acknowledged before that read began, but not in it
//   unexpected  in that read, but never added
// Unlike Jepsen, an add that was acknowledged only after that read began is not taken for lost:
// then the verdict is unknown. An add that failed or stayed open may show up (`recovered`).
#pragma once

#include "checkers/checker.h"

namespace ordeal {

CheckResult check_set(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
