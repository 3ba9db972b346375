// Client of the workloads of transactions: registers, whose value is a number as text, and lists,
// as JSON ("[1,2,3]"). A key of the workload is a key of etcd, after "registers/" or "lists/".
//
// etcd's transactions are one step: conditions, then puts. So a transaction first reads, all at one
// revision, what it needs, and then writes on condition that nothing that it read has changed
// since; if something has, it is a fail. That makes it serializable (Kung and Robinson, "On
// optimistic methods for concurrency control", TODS 1981), and strictly so, since etcd is; with one
// register it is compare-and-set. A transaction that only reads, or only writes registers, is one
// request.
#pragma once

#include <memory>
#include <string_view>

#include "targets/client.h"
#include "targets/etcd/connection.h"

namespace ordeal::etcd {

// `workload` is register or list-append.
Result<std::unique_ptr<Client>> connect_txn_client(const Endpoint& endpoint,
                                                   std::string_view workload,
                                                   bool serializable_reads, std::stop_token stop);

}  // namespace ordeal::etcd
