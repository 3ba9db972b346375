// A connection to PostgreSQL: whole transactions, and what became of them. All knowledge about
// libpqxx's connections and exceptions ends here.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "targets/postgres/outcomes.h"
#include "targets/sql/connection.h"

namespace ordeal::postgres {

class Connection : public sql::Connection {
 public:
  // The error is about surroundings: nothing was attempted. `prepare` is sent before the first
  // transaction, e.g. PREPARE statements, separated by semicolons. `isolation` as in
  // sql_isolation().
  static Result<std::unique_ptr<Connection>> open(const sql::Endpoint& endpoint,
                                                  std::string_view isolation, std::string prepare,
                                                  std::stop_token stop);
  // Whether clients are served: connects, and is refused at most since all connections are taken.
  static Status probe(const sql::Endpoint& endpoint, std::stop_token stop);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // BEGIN travels with the first statement.
  std::optional<Outcome> transact(std::stop_token stop, const sql::Body& body) override;
  Status execute(const std::string& sql, std::stop_token stop) override;
  bool connected() const override;

 private:
  struct Parts;
  using Attempt = tl::expected<std::unique_ptr<Connection>, sql::Problem>;
  explicit Connection(std::unique_ptr<Parts> parts);
  static Attempt attempt_open(const sql::Endpoint& endpoint, std::string begin, std::string prepare,
                              std::stop_token stop);
  sql::Rows send(const std::string& sql);
  std::optional<Outcome> attempt(const sql::Body& body, sql::Stage& stage);

  std::unique_ptr<Parts> parts_;
};

}  // namespace ordeal::postgres
