// A connection to an SQL database that carries out whole transactions and says what became of them:
// what the clients of list-append and bank need, whatever the system.
//
// One connection is used by one thread. It never reconnects by itself: once lost, it stays so.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "targets/client.h"

namespace ordeal::sql {

// Where a server is reached.
struct Endpoint {
  std::string host;     // for messages
  std::string address;  // IP
  int port = 0;
  std::chrono::milliseconds operation_timeout{5000};  // of a transaction, and of connecting
};

// The SQL name of an isolation level given as in workload settings: "read-committed" and so on.
std::string sql_isolation(std::string_view isolation);

// What a statement returned. A NULL is an empty text.
struct Rows {
  std::vector<std::vector<std::string>> rows;
  std::size_t affected = 0;

  bool empty() const { return rows.empty(); }
  const std::vector<std::string>& operator[](std::size_t row) const { return rows.at(row); }
};

// Throws where the text is no whole number: nothing that these clients wrote.
std::int64_t integer(const std::string& text);

// Sends one statement of the open transaction and returns its rows. Throws what only the system's
// own transact() understands, which makes an outcome of it.
using Execute = std::function<Rows(const std::string& sql)>;
// What went wrong, if anything.
using Note = std::optional<std::string>;
// The inside of a transaction: nullopt commits, a note rolls back and makes a Fail of it.
using Body = std::function<Note(const Execute& execute)>;

class Connection {
 public:
  virtual ~Connection() = default;

  // nullopt: committed. Otherwise a Fail or Info; see connected() for whether another transaction
  // can follow. n statements cost n + 1 round trips.
  virtual std::optional<Outcome> transact(std::stop_token stop, const Body& body) = 0;
  // Statements outside a transaction, separated by semicolons, e.g. to create tables.
  virtual Status execute(const std::string& sql, std::stop_token stop) = 0;
  virtual bool connected() const = 0;
};

}  // namespace ordeal::sql
