// A connection to MariaDB: whole transactions, and what became of them. All knowledge about MariaDB
// Connector/C ends here.
//
// The connector's non-blocking calls are used: each waits in poll(2), for the socket, the deadline
// and the stop request at once, and a wait that ends for one of the latter ends the call by the
// connector's own way of timing out.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "targets/mariadb/outcomes.h"
#include "targets/sql/connection.h"

namespace ordeal::mariadb {

inline constexpr const char* kDatabase = "ordeal";
inline constexpr const char* kUser = "ordeal";

class Connection : public sql::Connection {
 public:
  // The error is about surroundings: nothing was attempted. `isolation` as in sql_isolation().
  static Result<std::unique_ptr<Connection>> open(const sql::Endpoint& endpoint,
                                                  std::string_view isolation, std::stop_token stop);
  // Whether clients are served: connects and reads, and is refused at most since all connections
  // are taken.
  static Status probe(const sql::Endpoint& endpoint, std::stop_token stop);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // A transaction begins with its first statement (autocommit is off). After an error that leaves
  // the connection usable, ROLLBACK is sent at once: a lock wait that timed out, for one, undid its
  // statement alone.
  std::optional<Outcome> transact(std::stop_token stop, const sql::Body& body) override;
  Status execute(const std::string& sql, std::stop_token stop) override;
  bool connected() const override;

 private:
  class Session;
  explicit Connection(std::unique_ptr<Session> session);
  void roll_back();

  std::unique_ptr<Session> session_;
};

}  // namespace ordeal::mariadb
