// Client of workload bank: table accounts(id, balance).
//
// Setting `client`: `safe` lets the database compute, and is right at every isolation level;
// `unsafe` reads balances, computes, and writes the results back, which loses updates at read
// committed.
#pragma once

#include <memory>
#include <string_view>

#include "base/options.h"
#include "targets/sql/connection.h"

namespace ordeal::sql {

// How a system says it. Formats of fmt.
struct BankStatements {
  std::string_view balances;  // of all accounts: rows (id, balance) in the order of id
  std::string_view balance;   // of account {0}
  std::string_view write;     // to account {0} the balance {1}
  std::string_view add;  // to account {0} the amount {1}, where its balance then is at least {2}
};

std::unique_ptr<Client> bank_client(std::unique_ptr<Connection> connection,
                                    const BankStatements& statements,
                                    const Options& workload_options);

}  // namespace ordeal::sql
