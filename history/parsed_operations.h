// Operations as read from text but not yet added to a history: what can be read of a part of a file
// without knowing what stands before it. Views point into the text.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "history/operation.h"
#include "history/value.h"

namespace ordeal {

struct ParsedMicroOp {
  MicroFunction function = MicroFunction::read;
  bool has_list = false;
  Value key;
  Value value;
  std::size_t list_begin = 0;  // in ParsedOperations::elements
  std::size_t list_size = 0;
};

struct ParsedOperation {
  std::size_t at = 0;  // where it begins in the text
  std::optional<std::int64_t> index;
  std::int64_t time = 0;
  ProcessId process;
  Phase phase = Phase::invoke;
  bool is_txn = false;          // its value is a vector of micro-operations
  std::string_view function;    // "" where there is none
  std::string_view note;        // likewise
  std::string_view value;       // of what is no transaction; "" where there is none
  std::size_t not_txn_at = 0;   // where a vector stops being a transaction; 0 for other values
  std::size_t micro_begin = 0;  // in ParsedOperations::micro_ops
  std::size_t micro_size = 0;
};

struct ParsedOperations {
  std::vector<ParsedOperation> operations;
  std::vector<ParsedMicroOp> micro_ops;
  std::vector<Value> elements;
  std::deque<std::string> strings;  // those that are not in the text as they are

  void clear() {
    operations.clear();
    micro_ops.clear();
    elements.clear();
    strings.clear();
  }
};

}  // namespace ordeal
