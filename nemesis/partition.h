// Fault `partition`: packets between the clients and the database's port are dropped on chosen
// hosts, in one direction or both. Only that port: SSH and traffic between the hosts flow on.
#pragma once

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry partition_fault();

// Chain of the run in the filter table, at most 28 characters as iptables demands.
std::string partition_chain(const std::string& run_id);

}  // namespace ordeal
