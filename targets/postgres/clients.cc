#include "targets/postgres/clients.h"

#include <utility>

#include "targets/postgres/connection.h"
#include "targets/sql/bank_client.h"
#include "targets/sql/list_append_client.h"

namespace ordeal::postgres {
namespace {

constexpr sql::ListAppendStatements kLists = {
    .setup =
        "DROP TABLE IF EXISTS lists;"
        "CREATE TABLE lists (id bigint PRIMARY KEY, value text NOT NULL)",
    .read = "EXECUTE r({0})",
    .append = "EXECUTE a({0}, '{1}')"};
constexpr const char* kPrepareLists =
    "PREPARE r(bigint) AS SELECT value FROM lists WHERE id = $1;"
    "PREPARE a(bigint, text) AS INSERT INTO lists AS l (id, value) VALUES ($1, $2) "
    "ON CONFLICT (id) DO UPDATE SET value = CONCAT(l.value, ',', EXCLUDED.value)";

constexpr sql::BankStatements kBank = {.balances = "EXECUTE balances",
                                       .balance = "EXECUTE balance({0})",
                                       .write = "EXECUTE write({0}, {1})",
                                       .add = "EXECUTE add({0}, {1}, {2})"};
constexpr const char* kPrepareBank =
    "PREPARE balances AS SELECT id, balance FROM accounts ORDER BY id;"
    "PREPARE balance(bigint) AS SELECT balance FROM accounts WHERE id = $1;"
    "PREPARE write(bigint, bigint) AS UPDATE accounts SET balance = $2 WHERE id = $1;"
    "PREPARE add(bigint, bigint, bigint) AS UPDATE accounts SET balance = balance + $2 "
    "WHERE id = $1 AND balance + $2 >= $3";

}  // namespace

Result<std::unique_ptr<Client>> connect_list_append(const sql::Endpoint& endpoint,
                                                    const Options& workload_options,
                                                    std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(auto connection, Connection::open(endpoint, workload_options.text("isolation"),
                                                      kPrepareLists, std::move(stop)));
  return sql::list_append_client(std::move(connection), kLists);
}

Result<std::unique_ptr<Client>> connect_bank(const sql::Endpoint& endpoint,
                                             const Options& workload_options,
                                             std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(auto connection, Connection::open(endpoint, workload_options.text("isolation"),
                                                      kPrepareBank, std::move(stop)));
  return sql::bank_client(std::move(connection), kBank, workload_options);
}

}  // namespace ordeal::postgres
