#include "history/operation_adder.h"

#include "history/completions.h"
#include "history/edn_payload.h"

namespace ordeal {
namespace {

constexpr std::size_t kFunctionsMax = 0xfff0;

bool lacks_value(const ParsedOperation& operation) {
  return operation.is_txn ? operation.micro_size == 0
                          : operation.value.empty() || operation.value == "nil";
}

}  // namespace

const Event* OperationAdder::invocation_of(const Event& event) const {
  if (event.phase == Phase::invoke || event.process == kNemesis) return nullptr;
  const Position open = builder_.open_invocation(event.process);
  return open == kNoPosition ? nullptr : &builder_.so_far().event(open);
}

OperationAdder::Wrong OperationAdder::add(const ParsedOperation& operation,
                                          const ParsedOperations& all) {
  if (builder_.function_count() > kFunctionsMax) {
    return {operation.at, "expected fewer different :f"};
  }
  Event event;
  event.index = operation.index ? static_cast<std::uint64_t>(*operation.index) : size();
  event.time_ns = operation.time;
  event.process = operation.process;
  event.phase = operation.phase;
  const Event* invoked = operation.function.empty() ? invocation_of(event) : nullptr;
  event.function =
      invoked != nullptr ? invoked->function : builder_.function_id(operation.function);
  if (operation.not_txn_at != 0 && builder_.so_far().function(event) == "txn") {
    // As Opaque, no checker would see it.
    return {operation.not_txn_at,
            "expected [:r key value], [:append key value] or [:w key value] in a :txn"};
  }
  invoked = lacks_value(operation) ? invocation_of(event) : nullptr;
  if (invoked != nullptr && invoked->function == event.function) {
    add_supplied(event, *invoked, operation.note);
    return checked(operation.at);
  }
  const bool is_txn =
      operation.is_txn && (operation.micro_size > 0 || builder_.so_far().function(event) == "txn");
  return is_txn ? add_txn(event, operation, all) : add_other(event, operation);
}

// What the invocation says. What an ok transaction read is not known then: a read of nil would be
// one of the empty list.
void OperationAdder::add_supplied(const Event& event, const Event& invoked, std::string_view note) {
  if (invoked.kind != PayloadKind::txn) {
    return builder_.add_other(event, Payload(builder_.so_far().payload(invoked)), note);
  }
  const std::size_t first = invoked.payload;
  const std::size_t end = first + invoked.micro_ops;  // adding may move the invocation
  for (std::size_t i = first; i < end; ++i) {
    const StoredMicroOp op = builder_.micro_op(i);
    const bool unknown = event.phase == Phase::ok && op.function == MicroFunction::read;
    if (!unknown) builder_.add_micro_op(op);
  }
  builder_.add_txn(event, note);
}

OperationAdder::Wrong OperationAdder::add_txn(const Event& event, const ParsedOperation& operation,
                                              const ParsedOperations& all) {
  const Event* const invoked = invocation_of(event);
  const std::size_t first_invoked = invoked == nullptr ? 0 : invoked->payload;
  const std::size_t supplied =
      invoked != nullptr && invoked->kind == PayloadKind::txn ? invoked->micro_ops : 0;
  for (std::size_t i = 0; i < operation.micro_size; ++i) {
    StoredMicroOp known;
    if (i < supplied) known = builder_.micro_op(first_invoked + i);
    add_micro_op(all.micro_ops[operation.micro_begin + i], all, i < supplied ? &known : nullptr);
  }
  builder_.add_txn(event, operation.note);
  return checked(operation.at);
}

void OperationAdder::add_micro_op(const ParsedMicroOp& parsed, const ParsedOperations& all,
                                  const StoredMicroOp* invoked) {
  StoredMicroOp stored{parsed.value,   builder_.key_id(parsed.key), 0, 0, parsed.function,
                       parsed.has_list};
  if (parsed.has_list) {
    const auto elements =
        std::span<const Value>(all.elements).subspan(parsed.list_begin, parsed.list_size);
    const auto list = builder_.add_list(stored.key, {}, elements);
    stored.list = list.list;
    stored.length = list.length;
  }
  const bool lacks = invoked != nullptr && stored.function != MicroFunction::read &&
                     stored.value.is_nil() && invoked->function == stored.function &&
                     invoked->key == stored.key;
  if (lacks) stored.value = invoked->value;
  builder_.add_micro_op(stored);
}

OperationAdder::Wrong OperationAdder::add_other(const Event& event,
                                                const ParsedOperation& operation) {
  const std::string_view text = operation.value.empty() ? "nil" : operation.value;
  builder_.add_other(event, edn_payload(builder_.so_far().function(event), text), operation.note);
  return checked(operation.at);
}

// Of the operation that was added last.
OperationAdder::Wrong OperationAdder::checked(std::size_t at) const {
  if (!strict_) return {};
  return {at, completion_mismatch(builder_.so_far(), static_cast<Position>(size() - 1))};
}

}  // namespace ordeal
