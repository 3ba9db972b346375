// Adds operations that were read from text to a history. Recognises the payloads of
// history/operation.h by their shape; any other value is kept as Opaque, but a vector with :f :txn,
// which must be a transaction. The invocation supplies what its completion lacks: the function, the
// value, and the elements of appends and writes. Not thread-safe.
#pragma once

#include <string>

#include "history/history.h"
#include "history/parsed_operations.h"

namespace ordeal {

class OperationAdder {
 public:
  // `strict`: a completion must fit its invocation (see history/completions.h).
  explicit OperationAdder(bool strict = true) : strict_(strict) {}

  struct Wrong {
    std::size_t at = 0;    // in the text, where nothing was added because of it
    std::string expected;  // "" where all is well
  };
  Wrong add(const ParsedOperation& operation, const ParsedOperations& all);

  std::size_t size() const { return builder_.so_far().size(); }
  void reserve(double events, double micro_ops) { builder_.reserve(events, micro_ops); }
  History build() { return std::move(builder_).build(); }

 private:
  Wrong add_txn(const Event& event, const ParsedOperation& operation, const ParsedOperations& all);
  Wrong add_other(const Event& event, const ParsedOperation& operation);
  void add_supplied(const Event& event, const Event& invoked, std::string_view note);
  void add_micro_op(const ParsedMicroOp& parsed, const ParsedOperations& all,
                    const StoredMicroOp* invoked);
  const Event* invocation_of(const Event& event) const;
  Wrong checked(std::size_t at) const;

  bool strict_;
  HistoryBuilder builder_;
};

}  // namespace ordeal
