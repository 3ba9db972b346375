#include "history/history.h"

#include <algorithm>

namespace ordeal {

std::string_view phase_name(Phase phase) {
  static constexpr std::string_view kNames[] = {"invoke", "ok", "fail", "info"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::string both_directions(const std::string& a, const std::string& b) {
  if (a.empty() || a == b) return b;
  return b.empty() ? a : "both";
}

std::string_view micro_function_name(MicroFunction function) {
  static constexpr std::string_view kNames[] = {"r", "append", "w"};
  return kNames[static_cast<std::size_t>(function)];
}

std::string_view History::note(Position position) const {
  const auto found = notes_.find(position);
  return found == notes_.end() ? std::string_view() : found->second;
}

Operation History::operation(Position position) const {
  const Event& stored = event(position);
  Operation operation{stored.index,
                      std::chrono::nanoseconds(stored.time_ns),
                      stored.process,
                      stored.phase,
                      std::string(function(stored)),
                      Txn{},
                      std::string(note(position))};
  if (stored.kind != PayloadKind::txn) {
    operation.payload = payload(stored);
    return operation;
  }
  for (const auto& micro_op : micro_ops(stored)) {
    MicroOp copy{micro_op.function, key(micro_op.key), micro_op.value, std::nullopt};
    if (micro_op.has_list) copy.list.emplace(list(micro_op).begin(), list(micro_op).end());
    std::get<Txn>(operation.payload).micro_ops.push_back(std::move(copy));
  }
  return operation;
}

HistoryBuilder::HistoryBuilder() { history_.lists_.emplace_back(); }

void HistoryBuilder::reserve(double events, double micro_ops) {
  // What a hostile file may claim; of the address space, only what is used costs memory.
  const auto bounded = [](double count) {
    return static_cast<std::size_t>(std::min(count, 0x1p27));
  };
  try {
    history_.events_.reserve(bounded(events));
    history_.micro_ops_.reserve(bounded(micro_ops));
  } catch (const std::bad_alloc&) {
    // More than this machine has: what comes decides.
  }
}

void HistoryBuilder::add(const Operation& operation) {
  Event event;
  event.index = operation.index;
  event.time_ns = operation.time.count();
  event.process = operation.process;
  event.function = function_id(operation.function);
  event.phase = operation.phase;
  if (const auto* txn = std::get_if<Txn>(&operation.payload)) {
    for (const auto& micro_op : txn->micro_ops) add_micro_op(micro_op);
    add_txn(event, operation.note);
  } else {
    add_other(event, operation.payload, operation.note);
  }
}

void HistoryBuilder::add_txn(Event event, std::string_view note) {
  event.kind = PayloadKind::txn;
  event.payload = static_cast<std::uint32_t>(txn_begin_);
  event.micro_ops = static_cast<std::uint32_t>(history_.micro_ops_.size() - txn_begin_);
  txn_begin_ = history_.micro_ops_.size();
  add_event(event, note);
}

void HistoryBuilder::add_other(Event event, Payload payload, std::string_view note) {
  event.kind = static_cast<PayloadKind>(payload.index());
  event.payload = static_cast<std::uint32_t>(history_.others_.size());
  history_.others_.push_back(std::move(payload));
  add_event(event, note);
}

void HistoryBuilder::add_event(Event& event, std::string_view note) {
  pair(event);
  if (!note.empty()) history_.notes_.emplace(static_cast<Position>(history_.events_.size()), note);
  history_.events_.push_back(event);
}

void HistoryBuilder::pair(Event& event) {
  const auto here = static_cast<Position>(history_.events_.size());
  Position& open_position = open(event.process);
  if (event.phase == Phase::invoke) {
    open_position = here;
    return;
  }
  event.partner = open_position;
  if (open_position == kNoPosition) return;
  history_.events_[open_position].partner = here;
  open_position = kNoPosition;
}

Position& HistoryBuilder::open(ProcessId process) {
  if (process.value < 0 || process.value >= kSmallProcesses) {
    return open_others_.emplace(process, kNoPosition).first->second;
  }
  const auto place = static_cast<std::size_t>(process.value);
  if (place >= open_.size()) open_.resize(place + 1, kNoPosition);
  return open_[place];
}

Position HistoryBuilder::open_invocation(ProcessId process) const {
  if (process.value >= 0 && process.value < kSmallProcesses) {
    const auto place = static_cast<std::size_t>(process.value);
    return place < open_.size() ? open_[place] : kNoPosition;
  }
  const auto found = open_others_.find(process);
  return found == open_others_.end() ? kNoPosition : found->second;
}

void HistoryBuilder::add_micro_op(const MicroOp& micro_op) {
  StoredMicroOp stored{micro_op.value,    key_id(micro_op.key),     0, 0,
                       micro_op.function, micro_op.list.has_value()};
  if (micro_op.list) {
    const ListRef list = add_list(stored.key, {}, *micro_op.list);
    stored.list = list.list;
    stored.length = list.length;
  }
  add_micro_op(stored);
}

HistoryBuilder::ListRef HistoryBuilder::add_list(KeyId key, ListRef known,
                                                 std::span<const Value> rest) {
  const auto length = static_cast<std::uint32_t>(known.length + rest.size());
  if (rest.empty()) return known;
  if (known.length == 0) known.list = longest_[key];
  std::vector<Value>& shared = history_.lists_[known.list];
  const std::size_t common = std::min<std::size_t>(shared.size() - known.length, rest.size());
  const auto after_known = shared.begin() + static_cast<std::ptrdiff_t>(known.length);
  const auto after_common = rest.begin() + static_cast<std::ptrdiff_t>(common);
  if (known.list != 0 && std::equal(rest.begin(), after_common, after_known)) {
    shared.insert(shared.end(), after_common, rest.end());
    return {known.list, length};
  }
  std::vector<Value> own(shared.begin(), after_known);
  own.insert(own.end(), rest.begin(), rest.end());
  const auto place = static_cast<std::uint32_t>(history_.lists_.size());
  history_.lists_.push_back(std::move(own));
  if (longest_[key] == 0) longest_[key] = place;
  return {place, length};
}

std::uint16_t HistoryBuilder::function_id(std::string_view name) {
  if (const auto found = function_ids_.find(name); found != function_ids_.end()) {
    return found->second;
  }
  const auto next = static_cast<std::uint16_t>(history_.functions_.size());
  function_ids_.emplace(name, next);
  history_.functions_.emplace_back(name);
  return next;
}

KeyId HistoryBuilder::key_id(Value key) {
  const auto [found, is_new] = key_ids_.emplace(key, static_cast<KeyId>(history_.keys_.size()));
  if (is_new) {
    history_.keys_.push_back(key);
    longest_.push_back(0);
  }
  return found->second;
}

History HistoryBuilder::build() && { return std::move(history_); }

}  // namespace ordeal
