// Transactions of appends to named lists and reads of whole lists, judged by a consistency model:
// Elle's list-append analysis with exact decisions. See cycles/ for its parts, in the order of use:
// transactions, version_orders, inference, direct_anomalies, graph, cycle_classes, models, explain.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> list_append_options();
CheckResult check_list_append(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
