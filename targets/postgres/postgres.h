// Target `postgres`: one PostgreSQL server on one host, in a cluster of its own made by initdb; or
// a primary and streaming standbys on hosts of their own, each a base backup of it. Clients connect
// to the primary alone, and nothing promotes a standby.
//
// The servers run as user postgres where the login user is root, else as the login user. Only the
// control node's address and the standbys' may connect, and without a password.
#pragma once

#include <memory>
#include <span>

#include "targets/target.h"

namespace ordeal {

std::span<const OptionSpec> postgres_options();
Result<std::unique_ptr<Target>> make_postgres(const TargetInput& input);

}  // namespace ordeal
