// Workload register: transactions of micro-operations that read and write registers, and
// compare-and-sets, which read a register and write another value to it. Written values are unique
// per key, so that a read tells whose write it saw. key_window.h says which keys they touch.
#pragma once

#include <memory>
#include <span>

#include "workloads/workload.h"

namespace ordeal {

std::span<const OptionSpec> register_workload_options();
Result<std::unique_ptr<Workload>> make_register(const Options& options);

}  // namespace ordeal
