// Client of workload list-append: table lists(id, value), lists as text "1,2,3", as in Jepsen's
// tests.
#pragma once

#include <memory>

#include "base/options.h"
#include "targets/postgres/connection.h"

namespace ordeal::postgres {

Result<std::unique_ptr<Client>> connect_list_append(const Endpoint& endpoint,
                                                    const Options& workload_options,
                                                    std::stop_token stop);

}  // namespace ordeal::postgres
