#include "history/register_sessions.h"

namespace ordeal {

RegisterSessions::Id RegisterSessions::begin(ProcessId session, Phase phase) {
  transactions_.push_back({session, phase});
  return static_cast<Id>(transactions_.size() - 1);
}

void RegisterSessions::read(Id id, Value key, Value value) {
  ops_.push_back({id, MicroFunction::read, key, value});
  ++transactions_[id].micro_ops;
}

void RegisterSessions::write(Id id, Value key, Value value) {
  ops_.push_back({id, MicroFunction::write, key, value});
  ++transactions_[id].micro_ops;
  if (value == Value(0)) zero_written_.insert(key);
}

std::vector<RegisterSessions::Op> RegisterSessions::by_transaction() const {
  std::vector<std::size_t> next(transactions_.size() + 1);
  for (std::size_t id = 0; id < transactions_.size(); ++id) {
    next[id + 1] = next[id] + transactions_[id].micro_ops;
  }
  std::vector<Op> sorted(ops_.size());
  for (const Op& op : ops_) sorted[next[op.id]++] = op;
  return sorted;
}

History RegisterSessions::build(bool zero_is_initial) {
  HistoryBuilder builder;
  builder.reserve(static_cast<double>(transactions_.size()), static_cast<double>(ops_.size()));
  const auto ops = by_transaction();
  auto op = ops.begin();
  for (const Transaction& transaction : transactions_) {
    for (std::uint32_t i = 0; i < transaction.micro_ops; ++i, ++op) {
      const bool initial = zero_is_initial && op->function == MicroFunction::read &&
                           op->value == Value(0) && !zero_written_.contains(op->key);
      builder.add_micro_op(StoredMicroOp{initial ? Value() : op->value, builder.key_id(op->key), 0,
                                         0, op->function, false});
    }
    Event event;
    event.index = builder.so_far().size();
    event.process = transaction.session;
    event.phase = transaction.phase;
    event.function = builder.function_id("txn");
    builder.add_txn(event, "");
  }
  return std::move(builder).build();
}

}  // namespace ordeal
