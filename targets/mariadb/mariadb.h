// Target `mariadb`: one MariaDB server on one host; or a primary and replicas that follow it by
// GTID, asynchronously or semi-synchronously; or a Galera cluster. Clients connect to the primary
// alone, and nothing promotes a replica; of a Galera cluster they use all members.
//
// The servers run as user mysql where the login user is root, else as the login user. Only the
// control node's address and the system's own hosts may connect, and without a password.
#pragma once

#include <memory>
#include <span>

#include "targets/target.h"

namespace ordeal {

std::span<const OptionSpec> mariadb_options();
Result<std::unique_ptr<Target>> make_mariadb(const TargetInput& input);

}  // namespace ordeal
