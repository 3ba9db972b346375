// Builds a history from what research checkers keep of a run: sessions of transactions that read
// and write registers, with neither invocations nor times. Each transaction becomes a completion
// without an invocation, in the process of its session: so it is ordered within the session, and in
// no real-time order with others.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "history/history.h"

namespace ordeal {

class RegisterSessions {
 public:
  using Id = std::uint32_t;

  // Sessions run their transactions in the order of these calls.
  Id begin(ProcessId session, Phase phase);
  void set_phase(Id id, Phase phase) { transactions_[id].phase = phase; }
  // In the order of the transaction; those of several transactions may alternate.
  void read(Id id, Value key, Value value);
  void write(Id id, Value key, Value value);
  std::size_t size() const { return transactions_.size(); }

  // `zero_is_initial`: registers that nobody writes 0 to are 0 at first, so that such a read is one
  // of nil.
  History build(bool zero_is_initial);

 private:
  struct Transaction {
    ProcessId session;
    Phase phase;
    std::uint32_t micro_ops = 0;
  };
  struct Op {
    Id id;
    MicroFunction function;
    Value key;
    Value value;
  };
  std::vector<Op> by_transaction() const;

  std::vector<Transaction> transactions_;
  std::vector<Op> ops_;
  std::unordered_set<Value> zero_written_;  // keys
};

}  // namespace ordeal
