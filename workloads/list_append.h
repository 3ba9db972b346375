// Workload list-append (Elle): transactions of micro-operations that append unique elements to
// lists and read whole lists. Reads reveal version orders, version orders reveal anomalies.
//
// Keys come from a window of active keys that moves on with the number of generated transactions.
// All workers that have generated as many transactions have the same window, so they contend
// however many there are and however long they run. Inside the window the newest key is drawn half
// of the time, the next one a quarter, and so on, as in Elle's generator. Every key thus receives
// the same number of writes over its life, and the pace is such that this is a little less than
// max-writes-per-key.
//
// The limit holds over all workers without them talking to each other: it is divided into quotas.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "workloads/workload.h"

namespace ordeal {

std::span<const OptionSpec> list_append_workload_options();
Result<std::unique_ptr<Workload>> make_list_append(const Options& options);

// How many of the `max_writes` writes of `key` belong to `worker`. Sums to `max_writes` over all
// workers.
std::int64_t write_quota(std::int64_t max_writes, std::int64_t key, std::size_t worker,
                         std::size_t workers);

}  // namespace ordeal
