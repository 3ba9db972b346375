// Clients of the workloads for MariaDB.
#pragma once

#include <memory>
#include <stop_token>
#include <string_view>

#include "base/options.h"
#include "targets/sql/connection.h"

namespace ordeal::mariadb {

// `workload` is list-append or bank.
Result<std::unique_ptr<Client>> connect_client(std::string_view workload,
                                               const sql::Endpoint& endpoint,
                                               const Options& workload_options,
                                               std::stop_token stop);

}  // namespace ordeal::mariadb
