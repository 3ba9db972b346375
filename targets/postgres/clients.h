// Clients of the workloads for PostgreSQL, by prepared statements.
#pragma once

#include <memory>
#include <stop_token>

#include "base/options.h"
#include "targets/sql/connection.h"

namespace ordeal::postgres {

Result<std::unique_ptr<Client>> connect_list_append(const sql::Endpoint& endpoint,
                                                    const Options& workload_options,
                                                    std::stop_token stop);
Result<std::unique_ptr<Client>> connect_bank(const sql::Endpoint& endpoint,
                                             const Options& workload_options, std::stop_token stop);

}  // namespace ordeal::postgres
