// What the tests of outcomes share: transactions that meet an error at a chosen moment, and what
// the server says of them afterwards.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <string>

#include "tests/targets/postgres_server.h"
#include "tests/targets/transactions.h"

namespace ordeal {

// Outside a transaction, in a connection of its own.
void execute(PostgresServer& server, const std::string& sql);
// Rows of "TABLE" or "TABLE WHERE CONDITION".
std::int64_t count(PostgresServer& server, const std::string& condition);

// t: plain rows (1, 0) and (2, 0). slow: a deferred trigger makes COMMIT last v seconds. late: a
// deferred trigger executes the statement at COMMIT. unique_late: unique only at COMMIT.
void make_tables(PostgresServer& server);
void reset_tables(PostgresServer& server);

void await_sleepers(PostgresServer& server, int sessions);  // in pg_sleep()
// Waits until a session is inside COMMIT: its deferred trigger sleeps.
void await_commit(PostgresServer& server);

// Two sessions that an end of the server surprises, one in a statement and one in COMMIT. The
// futures are last, and so are waited for before their connections go.
struct Surprised {
  std::unique_ptr<postgres::Connection> first;
  std::unique_ptr<postgres::Connection> second;
  std::future<Trouble> statement;
  std::future<Trouble> commit;
};
Surprised surprised_sessions(PostgresServer& server);

// SQL that ends the sessions, or the statements, of all other clients.
extern const char* const kTerminateOthers;
extern const char* const kCancelOthers;

}  // namespace ordeal
