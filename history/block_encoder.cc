#include "history/block_encoder.h"

#include <algorithm>
#include <unordered_map>

#include "history/format.h"
#include "proto/history.pb.h"

namespace ordeal {
namespace {

using format::PayloadForm;
using format::ReadResult;

// Do two transactions differ in nothing but what their reads returned?
bool same_shape(const Txn& a, const Txn& b) {
  const auto same = [](const MicroOp& x, const MicroOp& y) {
    return x.function == y.function && x.key == y.key &&
           (x.function == MicroFunction::read || (x.value == y.value && !x.list && !y.list));
  };
  return std::equal(a.micro_ops.begin(), a.micro_ops.end(), b.micro_ops.begin(), b.micro_ops.end(),
                    same);
}

class Encoder {
 public:
  explicit Encoder(proto::Block& block) : block_(block) {}

  void encode(std::span<const Operation> operations) {
    block_.set_first_index(operations.front().index);
    block_.set_count(static_cast<std::uint32_t>(operations.size()));
    block_.set_first_time_ns(operations.front().time.count());
    indexes(operations);
    functions(operations);
    std::int64_t previous_time = block_.first_time_ns();
    for (const auto& operation : operations) {
      block_.add_time_delta_ns(operation.time.count() - previous_time);
      previous_time = operation.time.count();
      note(operation, static_cast<std::uint32_t>(&operation - operations.data()));
      one(operation);
    }
  }

 private:
  void indexes(std::span<const Operation> operations) {
    std::uint64_t expected = block_.first_index();
    const bool gapless =
        std::all_of(operations.begin(), operations.end(),
                    [&](const auto& operation) { return operation.index == expected++; });
    if (gapless) return;
    expected = block_.first_index();
    for (const auto& operation : operations) {
      block_.add_index_jump(static_cast<std::int64_t>(operation.index - expected));
      expected = operation.index + 1;
    }
  }

  void functions(std::span<const Operation> operations) {
    std::unordered_map<std::string_view, std::uint32_t> places;
    for (const auto& operation : operations) {
      const auto next = static_cast<std::uint32_t>(places.size());
      const auto [found, is_new] = places.emplace(operation.function, next);
      if (is_new) block_.add_function_table(operation.function);
      block_.add_function(found->second);
    }
    if (places.size() == 1) block_.clear_function();
  }

  void note(const Operation& operation, std::uint32_t place) {
    if (operation.note.empty()) return;
    block_.add_note_place(place - last_note_);
    block_.add_note(operation.note);
    last_note_ = place;
  }

  void one(const Operation& operation) {
    const Operation*& open = open_[process(operation.process)];
    const bool completes = operation.phase != Phase::invoke && open != nullptr;
    const PayloadForm form = payload(operation, completes ? &open->payload : nullptr);
    block_.mutable_phase_and_payload()->push_back(static_cast<char>(
        static_cast<unsigned>(operation.phase) | (static_cast<unsigned>(form) << 2U)));
    open = operation.phase == Phase::invoke ? &operation : nullptr;
  }

  std::uint32_t process(ProcessId id) {
    const auto next = static_cast<std::uint32_t>(processes_.size());
    const auto [found, is_new] = processes_.emplace(id, next);
    if (is_new) {
      block_.add_process_table(id.value);
      open_.push_back(nullptr);
    }
    block_.add_process(found->second);
    return found->second;
  }

  PayloadForm payload(const Operation& operation, const Payload* invoked) {
    if (const auto* txn = std::get_if<Txn>(&operation.payload)) {
      const auto* invoked_txn = invoked == nullptr ? nullptr : std::get_if<Txn>(invoked);
      const bool full = invoked_txn == nullptr || !same_shape(*invoked_txn, *txn);
      if (full) block_.add_micro_op_count(static_cast<std::uint32_t>(txn->micro_ops.size()));
      for (const auto& op : txn->micro_ops) micro_op(op, full);
      return full ? PayloadForm::txn : PayloadForm::txn_as_invoked;
    }
    if (invoked != nullptr && *invoked == operation.payload) return PayloadForm::as_invoked;
    return std::visit([this](const auto& other) { return column(other); }, operation.payload);
  }

  void micro_op(const MicroOp& op, bool full) {
    const bool reads = op.function == MicroFunction::read;
    const std::uint32_t key = full || reads ? key_place(op.key) : 0;
    if (full) {
      block_.mutable_micro_function()->push_back(static_cast<char>(op.function));
      block_.add_micro_key(key);
      if (!reads) block_.add_micro_value(code(op.value));
    }
    if (reads) read_result(op, key);
  }

  void read_result(const MicroOp& op, std::uint32_t key) {
    ReadResult result = ReadResult::nil;
    if (op.list) {
      result = ReadResult::list;
      list(*op.list, key);
    } else if (!op.value.is_nil()) {
      result = ReadResult::scalar;
      block_.add_read_value(code(op.value));
    }
    block_.mutable_read_result()->push_back(static_cast<char>(result));
  }

  void list(const std::vector<Value>& elements, std::uint32_t key) {
    static const std::vector<Value> kEmpty;
    const std::vector<Value>& longest = longest_[key] == nullptr ? kEmpty : *longest_[key];
    const auto differ =
        std::mismatch(elements.begin(), elements.end(), longest.begin(), longest.end()).first;
    block_.add_list_shared(static_cast<std::uint32_t>(differ - elements.begin()));
    block_.add_list_rest(static_cast<std::uint32_t>(elements.end() - differ));
    for (auto element = differ; element != elements.end(); ++element) {
      block_.add_list_element(code(*element));
    }
    if (elements.size() > longest.size()) longest_[key] = &elements;
  }

  std::uint32_t key_place(Value key) {
    const auto next = static_cast<std::uint32_t>(keys_.size());
    const auto [found, is_new] = keys_.emplace(key, next);
    if (is_new) {
      block_.add_key_table(code(key));
      longest_.push_back(nullptr);
    }
    return found->second;
  }

  PayloadForm column(const Txn&) { return PayloadForm::txn; }  // done by payload()

  PayloadForm column(const Transfer& transfer) {
    block_.add_transfer_from(code(transfer.from));
    block_.add_transfer_to(code(transfer.to));
    block_.add_transfer_amount(transfer.amount);
    return PayloadForm::transfer;
  }

  PayloadForm column(const Balances& balances) {
    if (!balances.accounts) {
      block_.add_balance_count(0);
      return PayloadForm::balances;
    }
    block_.add_balance_count(static_cast<std::uint32_t>(balances.accounts->size() + 1));
    for (const auto& [account, amount] : *balances.accounts) {
      block_.add_balance_account(code(account));
      block_.add_balance_amount(amount);
    }
    return PayloadForm::balances;
  }

  PayloadForm column(const FaultEvent& event) {
    proto::Fault& fault = *block_.add_fault();
    fault.set_fault(event.fault);
    fault.set_action(event.action == FaultAction::heal ? 1 : 0);
    for (const auto& host : event.hosts) fault.add_hosts(host);
    fault.set_detail(event.detail);
    for (const auto& leg : event.legs) fault.add_legs(leg);
    fault.set_direction(event.direction);
    fault.set_share(event.share);
    fault.set_effect(event.effect);
    fault.set_seen_direction(event.seen_direction);
    return PayloadForm::fault;
  }

  PayloadForm column(const Opaque& opaque) {
    block_.add_opaque(opaque.edn);
    return PayloadForm::opaque;
  }

  std::int64_t code(Value value) {
    if (value.is_integer()) return value.integer() * 2;
    if (value.is_nil()) return 1;
    const auto next = static_cast<std::int64_t>(texts_.size()) + 1;
    const auto [found, is_new] = texts_.emplace(value.bits(), next);
    if (is_new) block_.add_texts(value.text());
    return found->second * 2 + 1;
  }

  proto::Block& block_;
  std::uint32_t last_note_ = 0;
  std::unordered_map<ProcessId, std::uint32_t> processes_;
  std::vector<const Operation*> open_;  // by place in the process table
  std::unordered_map<Value, std::uint32_t> keys_;
  std::vector<const std::vector<Value>*> longest_;  // by place in the key table
  std::unordered_map<std::uint64_t, std::int64_t> texts_;
};

}  // namespace

void encode_block(std::span<const Operation> operations, proto::Block& block) {
  block.Clear();
  Encoder(block).encode(operations);
}

}  // namespace ordeal
