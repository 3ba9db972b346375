#include "checkers/set_timeline.h"

#include <algorithm>
#include <numeric>

namespace ordeal {
namespace {

bool is_attempt(const Event& event) {
  return event.phase == Phase::invoke || (event.phase == Phase::ok && event.partner == kNoPosition);
}

}  // namespace

bool SetTimeline::run(const std::stop_token& stop) {
  if (!find_elements(stop) || !read_events(stop)) return false;
  find_last_absent();
  return true;
}

bool SetTimeline::find_elements(const std::stop_token& stop) {
  std::unordered_map<Value, Position> added;
  const bool finished = for_each_client_event(history_, stop, [&](Position at, const Event& event) {
    if (history_.function(event) == "add" && is_attempt(event)) {
      added[reader_.invoked_value(at)] = at;
    }
  });
  for (const auto& [value, at] : added) {
    elements_.push_back({value, at, kNoPosition, kNoPosition, kNoPosition});
  }
  std::sort(elements_.begin(), elements_.end(),
            [](const SetElement& a, const SetElement& b) { return a.added < b.added; });
  for (std::uint32_t id = 0; id < elements_.size(); ++id) ids_[elements_[id].value] = id;
  return finished;
}

bool SetTimeline::read_events(const std::stop_token& stop) {
  return for_each_client_event(history_, stop, [&](Position at, const Event& event) {
    if (event.phase != Phase::ok) return;
    if (history_.function(event) == "add") acknowledge(at);
    if (history_.function(event) == "read") read(at, event);
  });
}

void SetTimeline::acknowledge(Position at) {
  const auto found = ids_.find(reader_.value(at));
  if (found == ids_.end()) return;
  SetElement& element = elements_[found->second];
  if (at >= element.added && element.known == kNoPosition) element.known = at;
}

void SetTimeline::read(Position at, const Event& event) {
  std::vector<Value> values;
  if (!reader_.elements(at, values)) {
    unreadable_ = std::min(unreadable_, at);
    return;
  }
  // Equal values come to stand together, which is all that their order is for.
  std::sort(values.begin(), values.end(), [](Value a, Value b) { return a.bits() < b.bits(); });
  Read read{event.partner, at, contents_.size(), 0};
  for (auto first = values.begin(); first != values.end();) {
    const auto last = std::find_if(first, values.end(), [&](Value v) { return v != *first; });
    const auto times = static_cast<std::uint64_t>(last - first);
    if (times > 1) {
      SetDuplicate& duplicate = duplicates_[*first];
      if (times > duplicate.times) duplicate = {times, at};
    }
    if (const auto found = ids_.find(*first); found != ids_.end()) {
      contents_.push_back(found->second);
      present(elements_[found->second], read);
    }
    first = last;
  }
  read.end = contents_.size();
  // Without its invocation, a read may have begun at any time, and proves no absence.
  if (read.invoked != kNoPosition) reads_.push_back(read);
}

void SetTimeline::present(SetElement& element, const Read& read) const {
  if (read.completed < element.added) return;
  if (element.known == kNoPosition) element.known = read.completed;
  const Position invoked = read.invoked == kNoPosition ? element.added : read.invoked;
  if (element.last_present == kNoPosition || element.last_present < invoked) {
    element.last_present = invoked;
  }
}

// Reads are taken from the one that began last. The first that lacks an element settles it, so that
// an element is looked at once for each read that has it, and once more.
void SetTimeline::find_last_absent() {
  std::sort(reads_.begin(), reads_.end(),
            [](const Read& a, const Read& b) { return a.invoked > b.invoked; });
  const auto count = static_cast<std::uint32_t>(elements_.size());
  std::vector<std::uint32_t> next(count + 1);  // list of the unsettled; next[count] is its head
  std::iota(next.begin(), next.end(), 1);
  next[count] = 0;                                     // count marks the end, too
  std::vector<std::size_t> has(count, reads_.size());  // the read that has it, latest looked at
  for (std::size_t number = 0; number < reads_.size(); ++number) {
    const Read& read = reads_[number];
    for (std::size_t at = read.begin; at < read.end; ++at) has[contents_[at]] = number;
    std::uint32_t before = count;
    for (std::uint32_t id = next[before]; id < count && elements_[id].added < read.completed;
         id = next[before]) {
      if (has[id] == number) {
        before = id;
      } else {
        elements_[id].last_absent = read.invoked;
        next[before] = next[id];
      }
    }
  }
}

}  // namespace ordeal
