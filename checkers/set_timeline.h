// The history of a set as seen by its elements: when each became known, and the last reads that
// had it and that had it not. Time and memory are linear in what all reads returned together.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkers/single_values.h"
#include "history/history.h"

namespace ordeal {

struct SetElement {
  Value value;
  Position added = 0;                   // invocation of its last add
  Position known = kNoPosition;         // completion of that add, or of the first read that has it
  Position last_present = kNoPosition;  // invocation of the last read to begin that has it
  Position last_absent = kNoPosition;   // the same of those that have it not
};

struct SetDuplicate {
  std::uint64_t times = 0;  // in one read, at most
  Position read = 0;        // which one
};

class SetTimeline {
 public:
  explicit SetTimeline(const History& history) : history_(history), reader_(history) {}

  bool run(const std::stop_token& stop);  // false if stopped

  const std::vector<SetElement>& elements() const { return elements_; }  // by `added`
  const std::unordered_map<Value, SetDuplicate>& duplicates() const { return duplicates_; }
  Position unreadable() const { return unreadable_; }  // an ok read of something else, if any

 private:
  struct Read {
    Position invoked = 0;
    Position completed = 0;
    std::size_t begin = 0;  // of its elements in contents_
    std::size_t end = 0;
  };

  bool find_elements(const std::stop_token& stop);
  bool read_events(const std::stop_token& stop);
  void acknowledge(Position at);
  void read(Position at, const Event& event);
  void present(SetElement& element, const Read& read) const;
  void find_last_absent();

  const History& history_;
  ValueReader reader_;
  std::vector<SetElement> elements_;
  std::unordered_map<Value, std::uint32_t> ids_;  // place in elements_
  std::vector<Read> reads_;
  std::vector<std::uint32_t> contents_;
  std::unordered_map<Value, SetDuplicate> duplicates_;
  Position unreadable_ = kNoPosition;
};

}  // namespace ordeal
