// Transactions of tests of outcomes, on any SQL system: what is done in them, and what became of
// them.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "targets/sql/connection.h"

namespace ordeal {

using sql::Execute;
using Trouble = std::optional<Outcome>;  // nullopt: committed

// "ok", "fail NOTE" or "info NOTE", so that a failed test says what came instead.
std::string described(const Trouble& trouble);

// Runs the statements as one transaction.
Trouble run(sql::Connection& connection, const std::vector<std::string>& statements);
// Same, in another thread.
std::future<Trouble> run_async(sql::Connection& connection, std::vector<std::string> statements);
// Runs `between` in the middle of the transaction. An empty `after` is left out: COMMIT is next.
Trouble run_around(sql::Connection& connection, const std::string& before,
                   const std::function<void()>& between, const std::string& after);
// The first field that the statement returns, in a transaction of its own.
std::string query(sql::Connection& connection, const std::string& sql);

}  // namespace ordeal
