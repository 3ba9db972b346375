#include "history/repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

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
    read_.history = copy();
    return std::move(read_);
  }

 private:
  const Event& event(Position position) const { return read_.history.event(position); }

  bool indexes_ascend() const {
    const auto fall = std::adjacent_find(order_.begin(), order_.end(), [&](Position a, Position b) {
      return event(a).index >= event(b).index;
    });
    return fall == order_.end();
  }

  void sort() {
    std::vector<Position> sorted = order_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](Position a, Position b) { return event(a).index < event(b).index; });
    const auto twice = std::adjacent_find(
        sorted.begin(), sorted.end(),
        [&](Position a, Position b) { return event(a).index == event(b).index; });
    renumber_ = true;
    if (twice != sorted.end()) {
      return warn(
          "have an index that is used twice: all were numbered anew, in the order of the "
          "file",
          1, *std::next(twice));
    }
    const auto moved = std::mismatch(order_.begin(), order_.end(), sorted.begin()).second;
    const auto count = std::inner_product(order_.begin(), order_.end(), sorted.begin(),
                                          std::size_t{0}, std::plus<>(), std::not_equal_to<>());
    order_ = sorted;
    warn("were put into the order of their indexes, and all were numbered anew", count, *moved);
  }

  History copy() {
    HistoryBuilder builder;
    next_name_ = 1 + last_process();
    for (const Position position : order_) {
      Operation operation = read_.history.operation(position);
      if (operation.process != kNemesis && !fit(operation, position)) continue;
      if (renumber_) operation.index = builder.so_far().size();
      builder.add(operation);
    }
    read_.damaged = read_.damaged || mismatches_.count > 0;
    warn("were dropped: completions of something else than their invocations", mismatches_.count,
         mismatches_.first);
    warn(fmt::format("were invoked by a process whose last invocation was open: each has a new "
                     "number from there on, {} in place of {}",
                     first_new_name_, first_old_name_),
         renamed_.count, renamed_.first);
    warn("were dropped: completions without invocation and value", lonely_.count, lonely_.first);
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

  // Makes the operation fit those before it of its process; false where it is to be dropped.
  bool fit(Operation& operation, Position position) {
    const std::int64_t recorded = operation.process.value;
    const auto name = names_.try_emplace(recorded, recorded).first;
    const auto open = open_.find(recorded);
    const bool is_open = open != open_.end();
    if (operation.phase == Phase::invoke) {
      if (is_open) {
        name->second = next_name_++;
        if (renamed_.count == 0) {
          first_old_name_ = recorded;
          first_new_name_ = name->second;
        }
        renamed_.add(position);
      }
      open_[recorded] = position;
    } else if (!is_open) {
      if (!has_value(operation.payload)) return lonely_.add(position), false;
    } else if (!completes(operation, open->second)) {
      return mismatches_.add(position), false;
    } else {
      open_.erase(open);
    }
    operation.process = ProcessId{name->second};
    return true;
  }

  bool completes(Operation& operation, Position invocation) const {
    const Operation invoked = read_.history.operation(invocation);
    if (operation.function.empty()) operation.function = invoked.function;
    supply(operation, invoked);
    // As it is refused where it names itself a :txn.
    const auto* opaque = std::get_if<Opaque>(&operation.payload);
    const bool vector =
        opaque != nullptr && (opaque->edn.starts_with('[') || opaque->edn.starts_with('('));
    if (vector && operation.function == "txn") return false;
    HistoryBuilder pair;
    pair.add(invoked);
    pair.add(operation);
    return completion_mismatch(std::move(pair).build(), 1).empty();
  }

  static bool has_value(const Payload& payload) {
    if (const auto* txn = std::get_if<Txn>(&payload)) return !txn->micro_ops.empty();
    const auto* opaque = std::get_if<Opaque>(&payload);
    const auto* balances = std::get_if<Balances>(&payload);
    return balances != nullptr ? balances->accounts.has_value()
                               : opaque == nullptr || opaque->edn != "nil";
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
  Change mismatches_;
  Change renamed_;
  Change lonely_;
  std::unordered_map<std::int64_t, std::int64_t> names_;  // processes, as recorded -> now
  std::unordered_map<std::int64_t, Position> open_;       // invocations, by process as recorded
  std::int64_t next_name_ = 0;
  std::int64_t first_old_name_ = 0;  // of the first process that has a new one
  std::int64_t first_new_name_ = 0;
};

}  // namespace

ReadHistory repaired(ReadHistory read, std::string_view name) {
  return Repair(std::move(read), name).run();
}

}  // namespace ordeal
