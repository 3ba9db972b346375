// Histories in shorthand, as in Elle's tests: ok(0, "ax1 ry12") is a transaction of process 0 that
// appended 1 to x and read [1 2] of y. A micro-operation is a letter, a key of one letter, then
// values: digits are one-digit elements, longer ones stand in brackets, "ry[10 11]"; "rx" alone
// read nothing (nil), "rx[]" the empty list. Registers: "wx1" wrote 1 to x, "gx1" got 1, "gx" nil.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "checkers/checker.h"
#include "history/history.h"

namespace ordeal::test {

struct Line {
  std::int64_t process;
  Phase phase;
  std::string text;
  bool both = true;  // invocation and completion at once
};

inline Line ok(std::int64_t process, std::string text) {
  return {process, Phase::ok, std::move(text)};
}
inline Line fail(std::int64_t process, std::string text) {
  return {process, Phase::fail, std::move(text)};
}
inline Line info(std::int64_t process, std::string text) {
  return {process, Phase::info, std::move(text)};
}
// Halves, for transactions that overlap.
inline Line begin(std::int64_t process, std::string text) {
  return {process, Phase::invoke, std::move(text), false};
}
inline Line end(std::int64_t process, std::string text, Phase phase = Phase::ok) {
  return {process, phase, std::move(text), false};
}

inline std::vector<Value> elements(const std::string& text) {
  std::vector<Value> values;
  if (text.starts_with('[')) {
    std::istringstream in(text.substr(1, text.size() - 2));
    for (std::int64_t element = 0; in >> element;) values.emplace_back(element);
  } else {
    for (const char digit : text) values.emplace_back(std::int64_t{digit - '0'});
  }
  return values;
}

inline MicroOp micro_op(const std::string& text) {
  MicroOp result;
  result.key = Value::symbol(fmt::format(":{}", text[1]));
  const std::string values = text.substr(2);
  if (text[0] == 'a' || text[0] == 'w') {
    result.function = text[0] == 'a' ? MicroFunction::append : MicroFunction::write;
    result.value = elements(values).at(0);
  } else if (text[0] == 'g') {
    if (!values.empty()) result.value = elements(values).at(0);
  } else if (!values.empty()) {
    result.list = elements(values);
  }
  return result;
}

inline Txn transaction(const std::string& text) {
  Txn txn;
  std::string token;
  for (const char c : text + " ") {
    const bool inside = token.find('[') != std::string::npos && token.back() != ']';
    if (c != ' ' || inside) {
      token += c;
    } else if (!token.empty()) {
      txn.micro_ops.push_back(micro_op(token));
      token.clear();
    }
  }
  return txn;
}

inline Txn without_results(Txn txn) {
  for (MicroOp& op : txn.micro_ops) {
    op.list.reset();
    if (op.function == MicroFunction::read) op.value = Value();
  }
  return txn;
}

class HistoryText {
 public:
  void add(const Line& line) {
    const Txn txn = transaction(line.text);
    if (line.both || line.phase == Phase::invoke)
      event(line.process, Phase::invoke, without_results(txn));
    if (line.phase == Phase::invoke) return;
    event(line.process, line.phase, line.phase == Phase::ok ? txn : without_results(txn));
  }
  History build() && { return std::move(builder_).build(); }

 private:
  void event(std::int64_t process, Phase phase, Txn txn) {
    Operation operation;
    operation.index = index_;
    operation.time = std::chrono::milliseconds(index_);
    operation.process = ProcessId{process};
    operation.phase = phase;
    operation.function = "txn";
    operation.payload = std::move(txn);
    builder_.add(operation);
    ++index_;
  }
  HistoryBuilder builder_;
  std::uint64_t index_ = 0;
};

inline History history(std::initializer_list<Line> lines) {
  HistoryText text;
  for (const Line& line : lines) text.add(line);
  return std::move(text).build();
}

// All at the same time, each by a process of its own: real time and sessions order nothing.
inline History concurrent(std::vector<std::string> transactions) {
  HistoryText text;
  const auto count = static_cast<std::int64_t>(transactions.size());
  for (std::int64_t at = 0; at < count; ++at)
    text.add(begin(at, transactions[static_cast<std::size_t>(at)]));
  for (std::int64_t at = 0; at < count; ++at)
    text.add(end(at, transactions[static_cast<std::size_t>(at)]));
  return std::move(text).build();
}

inline CheckResult check(std::string_view checker, const History& history,
                         Options::Given given = {}) {
  for (const CheckerEntry& entry : checker_catalog()) {
    if (entry.name != checker) continue;
    auto options = Options::make("checker", entry.options, given);
    if (!options) throw std::runtime_error(options.error().message);
    return entry.check(history, *options, {});
  }
  throw std::runtime_error("no such checker");
}

inline CheckResult check_append(const History& history,
                                const std::string& model = "strict-serializable") {
  return check("list-append", history, {{"model", {model, "test"}}});
}

// Every type found, whether the model rules it out or not.
inline std::vector<std::string> types_of(const CheckResult& result) {
  std::vector<std::string> types;
  for (const auto& [type, count] : result.anomaly_counts) types.push_back(type);
  return types;
}

}  // namespace ordeal::test
