// A client of two systems: transactions that only read go to one, all others to the other.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "base/result.h"
#include "targets/client.h"

namespace ordeal {

using Connect = std::function<Result<std::unique_ptr<Client>>(std::stop_token stop)>;

// Connects for reading when there is something to read, and again where that connection was lost;
// until then reads fail, and writes go on.
std::unique_ptr<Client> split_client(std::unique_ptr<Client> writing, Connect reading);

}  // namespace ordeal
