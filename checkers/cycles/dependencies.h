// What explanations ask of an inference, whatever the workload: which transactions there are, and
// why one of them depends on another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "checkers/cycles/graph.h"
#include "checkers/cycles/transactions.h"

namespace ordeal::cycles {

class Dependencies {
 public:
  virtual ~Dependencies() = default;

  // Which key, and which versions.
  struct Reason {
    KeyId key = 0;
    std::optional<Value> value;       // nullopt: the initial state
    std::optional<Value> next_value;  // of ww and rw
  };

  virtual const Transactions& involved() const = 0;
  // nullopt if there is no data edge of this kind.
  virtual std::optional<Reason> reason(TxnId from, TxnId to, EdgeKind kind) const = 0;
  // "T2 observed T1's append of 3 to key 5": a data edge in words.
  virtual std::string words(const CycleStep& step, const Reason& reason, std::string_view from,
                            std::string_view to) const = 0;
};

}  // namespace ordeal::cycles
