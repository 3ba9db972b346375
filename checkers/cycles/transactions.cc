#include "checkers/cycles/transactions.h"

#include <unordered_map>

namespace ordeal::cycles {
namespace {

TxnStatus status_of(const History& history, Position completion) {
  if (completion == kNoPosition) return TxnStatus::info;
  const Phase phase = history.event(completion).phase;
  if (phase == Phase::ok) return TxnStatus::ok;
  return phase == Phase::fail ? TxnStatus::fail : TxnStatus::info;
}

// Position of the event after which others may have begun: an ok completion.
bool is_ok_txn(const Event& event) {
  return event.phase == Phase::ok && event.kind == PayloadKind::txn;
}

}  // namespace

Transactions::Transactions(const History& history) : history_(history) {
  all_.reserve(history.size() / 2 + 1);
  for (Position position = 0; position < history.size(); ++position) {
    const Event& event = history.event(position);
    if (event.kind != PayloadKind::txn) continue;
    if (event.phase == Phase::invoke) {
      add(position, event.partner);
    } else if (event.partner == kNoPosition) {
      add(kNoPosition, position);
    }
  }
}

void Transactions::add(Position invocation, Position completion) {
  Transaction added{invocation, completion, status_of(history_, completion), false, {}};
  if (completion != kNoPosition) added.micro_ops = history_.micro_ops(history_.event(completion));
  added.completed_empty = added.micro_ops.empty();
  if (added.completed_empty && invocation != kNoPosition) {
    added.micro_ops = history_.micro_ops(history_.event(invocation));
  }
  if (added.status == TxnStatus::ok) ++counts_.ok;
  if (added.status == TxnStatus::fail) ++counts_.fail;
  if (added.status == TxnStatus::info) ++counts_.info;
  all_.push_back(added);
}

const Event& Transactions::reported_event(TxnId id) const {
  const Transaction& transaction = all_[id];
  const bool by_completion =
      transaction.status != TxnStatus::info || transaction.invocation == kNoPosition;
  return history_.event(by_completion ? transaction.completion : transaction.invocation);
}

RealTime::RealTime(const Transactions& transactions)
    : transactions_(transactions), after_(transactions.size(), kNone) {
  const History& history = transactions.history();
  // Transactions are met here in the order of their ids; `of_invocation` finds them at completion.
  BigVector<TxnId> of_position(history.size(), kNone);
  TxnId next = 0;
  bool open = false;  // whether the last barrier has no transaction after it yet
  for (Position position = 0; position < history.size(); ++position) {
    const bool begins = next < transactions.size() &&
                        (transactions[next].invocation == position ||
                         (!has_start(next) && transactions[next].completion == position));
    if (begins) {
      open = open && !has_start(next);
      of_position[position] = next++;
    }
    const Event& event = history.event(position);
    if (!is_ok_txn(event)) continue;
    if (!open) first_txn_.push_back(next);
    open = true;
    const Position key = event.partner == kNoPosition ? position : event.partner;
    after_[of_position[key]] = static_cast<std::uint32_t>(first_txn_.size() - 1);
  }
  first_txn_.push_back(transactions.size());
}

BigVector<TxnId> process_successors(const Transactions& transactions) {
  BigVector<TxnId> next(transactions.size(), kNone);
  std::unordered_map<ProcessId, TxnId> last_ok;
  for (TxnId id = 0; id < transactions.size(); ++id) {
    if (transactions.failed(id)) continue;
    const ProcessId process = transactions.reported_event(id).process;
    const bool ok = transactions.ok(id);
    const auto [found, is_new] = last_ok.try_emplace(process, ok ? id : kNone);
    if (is_new) continue;
    if (found->second != kNone) next[found->second] = id;
    if (ok) found->second = id;
  }
  return next;
}

}  // namespace ordeal::cycles
