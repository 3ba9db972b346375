// A counter starts at zero, :add changes it, :read returns it. A read must lie between what had
// certainly been added when it began and what may have been added when it completed. After
// jepsen.checker/counter, whose result fields it has (`reads` and `errors`, of [lower value
// upper]); unlike Jepsen's, amounts may be negative as well. A failed add counts for nothing, an
// open one may have happened at any time. Anomalies:
//   below-lower-bound, above-upper-bound
#pragma once

#include "checkers/checker.h"

namespace ordeal {

CheckResult check_counter(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
