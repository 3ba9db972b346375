// Target `postgres`: one PostgreSQL server on one host, in a cluster of its own made by initdb.
//
// The server runs as user postgres where the login user is root, else as the login user. Only the
// control node's address may connect, and without a password.
#pragma once

#include <memory>
#include <span>

#include "targets/target.h"

namespace ordeal {

std::span<const OptionSpec> postgres_options();
Result<std::unique_ptr<Target>> make_postgres(const TargetInput& input);

}  // namespace ordeal
