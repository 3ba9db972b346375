#include "history/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "history/completions.h"

namespace ordeal {
namespace {

class Repair {
 public:
  Repair(ReadHistory read, std::string_view name)
      : read_(std::move(read)), name_(name), order_(read_.history.size()) {
    std::iota(order_.begin(), order_.end(), Position{0});
  }

  ReadHistory run() {
    if (!indexes_ascend()) sort();
    read_.history = copy(mismatches(copy({})));
    return std::move(read_);
  }

 private:
  const Event& event(Position position) const { return read_.history.event(position); }

  bool indexes_ascend() const {
    const auto fall = std::adjacent_find(
        order_.begin(), order_.end(),
        [&](Position a, Position b) { return event(a).index >= event(b).index; });
    return fall == order_.end();
  }

  void sort() {
    std::vector<Position> sorted = order_;
    std::stable_sort(sorted.begin(), sorted.end(), [&](Position a, Position b) {
      return event(a).index < event(b).index;
    });
    const auto twice = std::adjacent_find(
        sorted.begin(), sorted.end(),
        [&](Position a, Position b) { return event(a).index == event(b).index; });
    renumber_ = true;
    if (twice != sorted.end()) {
      return warn("have an index that is used twice: all were numbered anew, in the order of the "
                  "file",
                  1, *std::next(twice));
    }
    const auto moved = std::mismatch(order_.begin(), order_.end(), sorted.begin()).second;
    const auto count = std::inner_product(order_.begin(), order_.end(), sorted.begin(),
                                          std::size_t{0}, std::plus<>(), std::not_equal_to<>());
    order_ = sorted;
    warn("were put into the order of their indexes, and all were numbered anew", count, *moved);
  }

  // In order_, without `dropped` places. The last call's changes are those that are told.
  History copy(const std::unordered_set<std::size_t>& dropped) {
    HistoryBuilder builder;
    builder.reserve(read_.history.size(), 0);
    names_.clear();
    open_.clear();
    next_name_ = 1 + last_process();
    const bool last = last_copy_;
    Change renamed;
    Change lonely;
    for (std::size_t place = 0; place < order_.size(); ++place) {
      if (dropped.contains(place)) continue;
      Operation operation = read_.history.operation(order_[place]);
      if (last && operation.process != kNemesis) {
        if (!rename(operation, order_[place], renamed)) {
          lonely.add(order_[place]);
          continue;
        }
      }
      if (renumber_) operation.index = builder.so_far().size();
      builder.add(operation);
    }
    warn("were invoked by a process whose last invocation was open: it has a new number from "
         "there on",
         renamed.count, renamed.first);
    warn("were dropped: completions without invocation and value", lonely.count, lonely.first);
    return std::move(builder).build();
  }

  struct Change {
    std::size_t count = 0;
    Position first = 0;
    void add(Position position) {
      if (count++ == 0) first = position;
    }
  };

  std::int64_t last_process() const {
    std::int64_t last = 0;
    for (const Event& event : read_.history.events()) last = std::max(last, event.process.value);
    return std::min(last, std::int64_t{1} << 62U);
  }

  // False where the operation is to be dropped.
  bool rename(Operation& operation, Position position, Change& renamed) {
    const std::int64_t recorded = operation.process.value;
    const auto [name, is_new] = names_.try_emplace(recorded, recorded);
    const bool invoke = operation.phase == Phase::invoke;
    const bool open = open_.contains(recorded);
    if (invoke && open) {
      name->second = next_name_++;
      renamed.add(position);
    }
    operation.process = ProcessId{name->second};
    if (!invoke && !open) return has_value(operation.payload);
    invoke ? (void)open_.insert(recorded) : (void)open_.erase(recorded);
    return true;
  }

  static bool has_value(const Payload& payload) {
    if (const auto* txn = std::get_if<Txn>(&payload)) return !txn->micro_ops.empty();
    const auto* opaque = std::get_if<Opaque>(&payload);
    const auto* balances = std::get_if<Balances>(&payload);
    return balances != nullptr ? balances->accounts.has_value()
                               : opaque == nullptr || opaque->edn != "nil";
  }

  // Places in order_ of completions that do not fit.
  std::unordered_set<std::size_t> mismatches(const History& sorted) {
    std::unordered_set<std::size_t> places;
    Change change;
    for (std::size_t place = 0; place < sorted.size(); ++place) {
      if (completion_mismatch(sorted, static_cast<Position>(place)).empty()) continue;
      places.insert(place);
      change.add(order_[place]);
    }
    warn("were dropped: completions of something else than their invocations", change.count,
         change.first);
    last_copy_ = true;
    return places;
  }

  void warn(std::string_view what, std::size_t count, Position first) {
    if (count == 0) return;
    read_.warnings.push_back(fmt::format(
        "in the history {}, {} of {} operations {}; the first is operation {} of the file (index "
        "{}, process {})",
        name_, count, read_.history.size(), what, first + 1, event(first).index,
        event(first).process.value));
  }

  ReadHistory read_;
  std::string_view name_;
  std::vector<Position> order_;
  bool renumber_ = false;
  bool last_copy_ = false;
  std::unordered_map<std::int64_t, std::int64_t> names_;  // processes, as recorded -> now
  std::unordered_set<std::int64_t> open_;                 // as recorded
  std::int64_t next_name_ = 0;
};

}  // namespace

ReadHistory repaired(ReadHistory read, std::string_view name) {
  return Repair(std::move(read), name).run();
}

}  // namespace ordeal
