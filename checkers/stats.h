// Counts of operations by function and outcome, after jepsen.checker/stats, whose result fields it
// has: every function should have succeeded at least once. Where one did not, or nothing was done
// at all, the verdict is unknown: that part was not tested. An operation that never completed
// counts as info.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> stats_options();
CheckResult check_stats(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
