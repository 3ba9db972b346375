// A connection to PostgreSQL that carries out whole transactions and says what became of them. All
// knowledge about libpqxx's connections and exceptions ends here.
//
// One connection is used by one thread. It never reconnects by itself: once lost, it stays so.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "targets/client.h"
#include "targets/postgres/outcomes.h"

namespace pqxx {
class result;
}

namespace ordeal::postgres {

struct Endpoint {
  std::string host;     // for messages
  std::string address;  // IP
  int port = 5432;
  std::chrono::milliseconds operation_timeout{5000};  // of a transaction, and of connecting
};

// The SQL name of an isolation level given as in workload settings: "read-committed" and so on.
std::string sql_isolation(std::string_view isolation);

class Connection {
 public:
  // Sends one statement of the open transaction and returns its rows. Throws what libpqxx throws;
  // transact() makes an outcome of it.
  using Execute = std::function<pqxx::result(const std::string& sql)>;
  // The inside of a transaction: nullopt commits, a note rolls back and makes a Fail of it.
  using Body = std::function<std::optional<std::string>(const Execute& execute)>;

  // The error is about surroundings: nothing was attempted. `prepare` is sent before the first
  // transaction, e.g. PREPARE statements, separated by semicolons. `isolation` as in
  // sql_isolation().
  static Result<std::unique_ptr<Connection>> open(const Endpoint& endpoint,
                                                  std::string_view isolation, std::string prepare,
                                                  std::stop_token stop);
  // Whether clients are served: connects, and is refused at most since all connections are taken.
  static Status probe(const Endpoint& endpoint, std::stop_token stop);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // nullopt: committed. Otherwise a Fail or Info; see connected() for whether another transaction
  // can follow. BEGIN travels with the first statement, so n statements cost n + 1 round trips.
  std::optional<Outcome> transact(std::stop_token stop, const Body& body);
  // Statements outside a transaction, e.g. to create tables.
  Status execute(const std::string& sql, std::stop_token stop);
  bool connected() const;

 private:
  struct Parts;
  using Attempt = tl::expected<std::unique_ptr<Connection>, Problem>;
  explicit Connection(std::unique_ptr<Parts> parts);
  static Attempt attempt_open(const Endpoint& endpoint, std::string begin, std::string prepare,
                              std::stop_token stop);
  pqxx::result send(const std::string& sql);
  std::optional<Outcome> attempt(const Body& body, Stage& stage);

  std::unique_ptr<Parts> parts_;
};

}  // namespace ordeal::postgres
