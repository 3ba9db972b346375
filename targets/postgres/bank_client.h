// Client of workload bank: table accounts(id, balance).
//
// Setting `client`: `safe` lets the database compute, and is right at every isolation level;
// `unsafe` reads balances, computes, and writes the results back, which loses updates at read
// committed.
#pragma once

#include <memory>

#include "base/options.h"
#include "targets/postgres/connection.h"

namespace ordeal::postgres {

Result<std::unique_ptr<Client>> connect_bank(const Endpoint& endpoint,
                                             const Options& workload_options, std::stop_token stop);

}  // namespace ordeal::postgres
