#include "targets/mariadb/clients.h"

#include <utility>

#include "targets/mariadb/connection.h"
#include "targets/sql/bank_client.h"
#include "targets/sql/list_append_client.h"

namespace ordeal::mariadb {
namespace {

constexpr sql::ListAppendStatements kLists = {
    .setup =
        "DROP TABLE IF EXISTS lists;"
        "CREATE TABLE lists (id bigint PRIMARY KEY, value text NOT NULL)",
    .read = "SELECT value FROM lists WHERE id = {0}",
    .append =
        "INSERT INTO lists VALUES ({0}, '{1}') ON DUPLICATE KEY UPDATE "
        "value = CONCAT(value, ',', '{1}')"};

constexpr sql::BankStatements kBank = {
    .balances = "SELECT id, balance FROM accounts ORDER BY id",
    .balance = "SELECT balance FROM accounts WHERE id = {0}",
    .write = "UPDATE accounts SET balance = {1} WHERE id = {0}",
    .add = "UPDATE accounts SET balance = balance + {1} WHERE id = {0} AND balance + {1} >= {2}"};

}  // namespace

Result<std::unique_ptr<Client>> connect_client(std::string_view workload,
                                               const sql::Endpoint& endpoint,
                                               const Options& workload_options,
                                               std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(auto connection, Connection::open(endpoint, workload_options.text("isolation"),
                                                      std::move(stop)));
  if (workload == "list-append") return sql::list_append_client(std::move(connection), kLists);
  if (workload == "bank") {
    return sql::bank_client(std::move(connection), kBank, workload_options);
  }
  return internal_error("target mariadb has no client for workload {}", workload);
}

}  // namespace ordeal::mariadb
