#include "history/completions.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace ordeal {
namespace {

bool is_nil(const History& history, const Event& event) {
  if (event.kind != PayloadKind::opaque) return false;
  return std::get<Opaque>(history.payload(event)).edn == "nil";
}

std::string shape(const History& history, const StoredMicroOp& op) {
  return fmt::format("[:{} {} ...]", micro_function_name(op.function), history.key(op.key).text());
}

// A completion that says nothing of what was read may leave out the reads.
std::vector<StoredMicroOp> without_reads(std::span<const StoredMicroOp> ops) {
  std::vector<StoredMicroOp> writes(ops.begin(), ops.end());
  std::erase_if(writes, [](const auto& op) { return op.function == MicroFunction::read; });
  return writes;
}

std::string txn_mismatch(const History& history, const Event& invoked, const Event& completed) {
  const auto expected = history.micro_ops(invoked);
  const auto found = history.micro_ops(completed);
  const auto same = [](const StoredMicroOp& a, const StoredMicroOp& b) {
    return a.function == b.function && a.key == b.key;
  };
  const auto [at, found_at] =
      std::mismatch(expected.begin(), expected.end(), found.begin(), found.end(), same);
  if (at == expected.end() && found_at == found.end()) return "";
  const auto writes = without_reads(expected);
  if (std::equal(writes.begin(), writes.end(), found.begin(), found.end(), same)) return "";
  if (at == expected.end() || found_at == found.end()) {
    return fmt::format(
        "expected as many micro-operations as in the invocation (index {}), {}, not {}",
        invoked.index, expected.size(), found.size());
  }
  return fmt::format("expected {} as in the invocation (index {}), not {}", shape(history, *at),
                     invoked.index, shape(history, *found_at));
}

}  // namespace

std::string completion_mismatch(const History& history, Position completion) {
  const Event& completed = history.event(completion);
  const bool paired = completed.phase != Phase::invoke && completed.partner != kNoPosition;
  if (!paired || completed.process == kNemesis) return "";
  const Event& invoked = history.event(completed.partner);
  if (completed.function != invoked.function) {
    return fmt::format("expected :f :{} as in the invocation (index {}), not :f :{}",
                       history.function(invoked), invoked.index, history.function(completed));
  }
  const bool both = invoked.kind == PayloadKind::txn && completed.kind == PayloadKind::txn;
  if (both) return txn_mismatch(history, invoked, completed);
  const bool one = invoked.kind == PayloadKind::txn || completed.kind == PayloadKind::txn;
  if (!one || is_nil(history, invoked) || is_nil(history, completed)) return "";
  return fmt::format("expected a value of the same kind as in the invocation (index {})",
                     invoked.index);
}

void supply(Operation& completion, const Operation& invocation) {
  if (completion.function != invocation.function) return;
  const auto* invoked = std::get_if<Txn>(&invocation.payload);
  auto* txn = std::get_if<Txn>(&completion.payload);
  const auto* opaque = std::get_if<Opaque>(&completion.payload);
  const bool lacks =
      txn != nullptr ? txn->micro_ops.empty() : opaque != nullptr && opaque->edn == "nil";
  if (lacks) {
    completion.payload = invocation.payload;
    if (invoked == nullptr || completion.phase != Phase::ok) return;
    std::erase_if(std::get<Txn>(completion.payload).micro_ops,
                  [](const MicroOp& op) { return op.function == MicroFunction::read; });
  } else if (txn != nullptr && invoked != nullptr) {
    const std::size_t both = std::min(txn->micro_ops.size(), invoked->micro_ops.size());
    for (std::size_t i = 0; i < both; ++i) {
      MicroOp& op = txn->micro_ops[i];
      const MicroOp& known = invoked->micro_ops[i];
      const bool supplied = op.function != MicroFunction::read && op.value.is_nil() &&
                            op.function == known.function && op.key == known.key;
      if (supplied) op.value = known.value;
    }
  }
}

std::string first_mismatch(const History& history) {
  for (Position at = 0; at < history.size(); ++at) {
    const std::string mismatch = completion_mismatch(history, at);
    if (mismatch.empty()) continue;
    return fmt::format("operation {} (index {}, process {}) completes another operation: {}",
                       at + 1, history.event(at).index, history.event(at).process.value, mismatch);
  }
  return "";
}

}  // namespace ordeal
