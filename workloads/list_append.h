// Workload list-append (Elle): transactions of micro-operations that append unique elements to
// lists and read whole lists. Reads reveal version orders, version orders reveal anomalies.
// key_window.h says which keys they touch.
#pragma once

#include <memory>
#include <span>

#include "workloads/workload.h"

namespace ordeal {

std::span<const OptionSpec> list_append_workload_options();
Result<std::unique_ptr<Workload>> make_list_append(const Options& options);

}  // namespace ordeal
