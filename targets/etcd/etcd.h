// Target `etcd`: a cluster of etcd members, one a host, whose data is empty at first. Clients are
// spread over the members, and each stays with its own; they use the JSON gateway of etcd 3.4 and
// later.
//
// The members run as user etcd where the login user is root, else as the login user. Whoever
// reaches their ports is served: neither clients nor members are asked who they are.
#pragma once

#include <memory>
#include <span>

#include "targets/target.h"

namespace ordeal {

std::span<const OptionSpec> etcd_options();
Result<std::unique_ptr<Target>> make_etcd(const TargetInput& input);

}  // namespace ordeal
