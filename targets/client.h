// A connection of one logical process to the database under test, and what became of each
// operation.
#pragma once

#include <stop_token>
#include <string>
#include <variant>

#include "base/result.h"
#include "history/operation.h"

namespace ordeal {

struct Ok {
  Payload payload;  // the invocation's, with what was read filled in
};
struct Fail {  // certainly did not happen
  std::string note;
};
struct Info {  // may have happened, or may still
  std::string note;
};
using Outcome = std::variant<Ok, Fail, Info>;

// One connection, used by one thread. Whatever goes wrong inside invoke() ends as Fail or Info; no
// exception leaves it. It returns within the target's operation time-out, also while the database
// is frozen or unreachable, and soon after a stop was requested.
class Client {
 public:
  virtual ~Client() = default;

  // Creates the workload's objects (tables, accounts); called once per run, before any invoke().
  virtual Status setup(std::stop_token stop) = 0;
  virtual Outcome invoke(const Payload& payload, std::stop_token stop) = 0;
  // False once the connection is lost: the caller replaces the client.
  virtual bool connected() const = 0;
};

}  // namespace ordeal
