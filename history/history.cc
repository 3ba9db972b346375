#include "history/history.h"

#include <algorithm>

namespace ordeal {

std::string_view phase_name(Phase phase) {
  static constexpr std::string_view kNames[] = {"invoke", "ok", "fail", "info"};
  return kNames[static_cast<std::size_t>(phase)];
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

void HistoryBuilder::add(const Operation& operation) {
  Event event{operation.index, operation.time.count(), operation.process, kNoPosition, 0, 0,
              function_id(operation.function), operation.phase,
              static_cast<PayloadKind>(operation.payload.index())};
  if (const auto* txn = std::get_if<Txn>(&operation.payload)) {
    event.payload = static_cast<std::uint32_t>(history_.micro_ops_.size());
    event.micro_ops = static_cast<std::uint32_t>(txn->micro_ops.size());
    for (const auto& micro_op : txn->micro_ops) add_micro_op(micro_op);
  } else {
    event.payload = static_cast<std::uint32_t>(history_.others_.size());
    history_.others_.push_back(operation.payload);
  }
  pair(event);
  if (!operation.note.empty()) {
    history_.notes_.emplace(static_cast<Position>(history_.events_.size()), operation.note);
  }
  history_.events_.push_back(event);
}

void HistoryBuilder::pair(Event& event) {
  const auto here = static_cast<Position>(history_.events_.size());
  if (event.phase == Phase::invoke) {
    open_.insert_or_assign(event.process, here);
    return;
  }
  const auto open = open_.find(event.process);
  if (open == open_.end()) return;
  event.partner = open->second;
  history_.events_[open->second].partner = here;
  open_.erase(open);
}

void HistoryBuilder::add_micro_op(const MicroOp& micro_op) {
  StoredMicroOp stored{micro_op.value, key_id(micro_op.key), 0, 0, micro_op.function,
                       micro_op.list.has_value()};
  if (micro_op.list) store_list(stored, *micro_op.list);
  history_.micro_ops_.push_back(stored);
}

void HistoryBuilder::store_list(StoredMicroOp& stored, const std::vector<Value>& elements) {
  stored.length = static_cast<std::uint32_t>(elements.size());
  if (elements.empty()) return;
  std::uint32_t& longest = longest_[stored.key];
  std::vector<Value>& shared = history_.lists_[longest];
  const std::size_t common = std::min(shared.size(), elements.size());
  const auto first = elements.begin();
  if (std::equal(first, first + static_cast<std::ptrdiff_t>(common), shared.begin()) && longest != 0) {
    shared.insert(shared.end(), first + static_cast<std::ptrdiff_t>(common), elements.end());
    stored.list = longest;
    return;
  }
  stored.list = static_cast<std::uint32_t>(history_.lists_.size());
  history_.lists_.push_back(elements);
  if (longest == 0) longest = stored.list;
}

std::uint16_t HistoryBuilder::function_id(const std::string& name) {
  const auto next = static_cast<std::uint16_t>(history_.functions_.size());
  const auto [found, is_new] = function_ids_.emplace(name, next);
  if (is_new) history_.functions_.push_back(name);
  return found->second;
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
