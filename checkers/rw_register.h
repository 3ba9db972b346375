// Checker "rw-register": isolation of transactions that read and write registers whose written
// values are unique per key. See checkers/registers/ for what is inferred, checkers/cycles/ for
// the search.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> rw_register_options();
CheckResult check_rw_register(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
