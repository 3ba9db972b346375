// Workload bank (Jepsen): transfers among accounts, and reads of all accounts at once. The total is
// conserved whatever becomes of a transfer, so every read can be judged by itself.
#pragma once

#include <memory>
#include <span>

#include "workloads/workload.h"

namespace ordeal {

std::span<const OptionSpec> bank_workload_options();
Result<std::unique_ptr<Workload>> make_bank(const Options& options);

}  // namespace ordeal
