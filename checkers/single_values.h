// What checkers of single objects (sets, queues, counters, ...) read from operations that are no
// transactions, and how they write it into their result fields.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "history/history.h"

namespace ordeal {

class ValueReader {
 public:
  explicit ValueReader(const History& history) : history_(history) {}

  // The value of the event at `at` as a scalar; where it has none (nil), that of its invocation.
  Value value(Position at) const;
  // What an operation that was invoked at `at` was about: the completion's value where it is ok.
  Value invoked_value(Position at) const;
  // Appends the elements of a vector, list or set; nil has none. False for any other value.
  bool elements(Position at, std::vector<Value>& out) const;
  // Appends the keys and values of a map in turn; nil has none. False for any other value.
  bool entries(Position at, std::vector<Value>& out) const;

 private:
  std::string text(Position at) const;
  Value own_value(Position at) const;

  const History& history_;
};

// Calls visit(Position, const Event&) for each event of a client in order; false if stopped before
// the end.
template <class Visit>
bool for_each_client_event(const History& history, const std::stop_token& stop, Visit&& visit) {
  for (Position at = 0; at < history.size(); ++at) {
    if (at % 1024 == 0 && stop.stop_requested()) return false;
    if (history.event(at).process != kNemesis) visit(at, history.event(at));
  }
  return true;
}

void sort_values(std::vector<Value>& values);  // as value_less()

// As a verdict has it (docs/verdict-format.md).
nlohmann::ordered_json json_of(Value value);
nlohmann::ordered_json json_of(const std::vector<Value>& values);
// The text of a field of CheckResult, which is always UTF-8.
std::string json_text(const nlohmann::ordered_json& json);

// Sorted values as Jepsen prints a set of integers: `#{1..3 7}`. Other values stand for themselves.
std::string interval_set(const std::vector<Value>& sorted);

}  // namespace ordeal
