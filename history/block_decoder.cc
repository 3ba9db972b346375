#include "history/block_decoder.h"

#include <fmt/format.h>

#include "history/format.h"
#include "proto/history.pb.h"

namespace ordeal {
namespace {

using format::PayloadForm;
using format::ReadResult;
using ListRef = HistoryBuilder::ListRef;

// Reads a column from front to back. Past the end it yields zeros and remembers that, so that
// callers check once per block; loops over a count that came from the file first ask has().
template <class T>
class Column {
 public:
  Column(const T* data, std::size_t size) : next_(data), end_(data + size) {}
  template <class Repeated>
  explicit Column(const Repeated& column)
      : Column(column.data(), static_cast<std::size_t>(column.size())) {}

  T next() {
    if (next_ != end_) return *next_++;
    short_ = true;
    return T{};
  }
  bool has(std::size_t count) {
    if (static_cast<std::size_t>(end_ - next_) >= count) return true;
    short_ = true;
    return false;
  }
  bool exact() const { return !short_ && next_ == end_; }

 private:
  const T* next_;
  const T* end_;
  bool short_ = false;
};

class Decoder {
 public:
  Decoder(const proto::Block& block, HistoryBuilder& builder)
      : block_(block),
        builder_(builder),
        first_(static_cast<Position>(builder.so_far().size())),
        first_micro_op_(builder.micro_op_count()),
        index_(block.first_index()),
        time_(block.first_time_ns()) {}

  std::string decode() {
    tables();
    const auto& forms = block_.phase_and_payload();
    if (error_.empty() && forms.size() != block_.count()) fail("its count is wrong");
    for (std::size_t i = 0; i < forms.size() && error_.empty(); ++i) {
      one(static_cast<unsigned char>(forms[i]), static_cast<std::uint32_t>(i));
    }
    if (error_.empty()) check_exhausted();
    return error_;
  }

 private:
  void fail(std::string_view what) {
    if (error_.empty()) error_ = what;
  }

  void tables() {
    if (block_.count() > format::kOperationsMax) return fail("it has too many operations");
    for (const auto& text : block_.texts()) texts_.push_back(Value::symbol(text));
    for (const std::int64_t code : block_.key_table())
      keys_.push_back(builder_.key_id(value(code)));
    longest_.resize(keys_.size());
    for (const auto& name : block_.function_table()) {
      functions_.push_back(builder_.function_id(name));
      if (builder_.function_count() > 0xffff) return fail("it has too many function names");
    }
    if (block_.note_place_size() != block_.note_size()) return fail("its notes don't match");
    if (block_.note_place_size() > 0) note_at_ = block_.note_place(0);
  }

  void one(unsigned form_and_phase, std::uint32_t place) {
    Event event;
    if (!block_.index_jump().empty()) index_ += static_cast<std::uint64_t>(index_jump_.next());
    event.index = index_++;
    event.time_ns = time_ = wrapping_add(time_, time_delta_.next());
    const std::uint32_t process_place = process_.next();
    const std::uint32_t function_place = block_.function().empty() ? 0 : function_.next();
    if (process_place >= static_cast<std::uint32_t>(block_.process_table_size()))
      return fail("it names a process that is not in its table");
    if (function_place >= functions_.size()) return fail("it names a function not in its table");
    event.process = ProcessId{block_.process_table(static_cast<int>(process_place))};
    event.function = functions_[function_place];
    event.phase = static_cast<Phase>(form_and_phase & 3U);
    payload(event, static_cast<PayloadForm>(form_and_phase >> 2U), note(place));
  }

  // Damage may overflow, which is no undefined behaviour on unsigned numbers.
  static std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }

  std::string_view note(std::uint32_t place) {
    if (notes_used_ == block_.note_size() || place != note_at_) return {};
    const std::string& text = block_.note(notes_used_++);
    if (notes_used_ < block_.note_size()) note_at_ += block_.note_place(notes_used_);
    return text;
  }

  void payload(const Event& event, PayloadForm form, std::string_view text) {
    switch (form) {
      case PayloadForm::txn:
        txn();
        return builder_.add_txn(event, text);
      case PayloadForm::txn_as_invoked:
        if (const Event* invoked = invocation(event, PayloadKind::txn)) txn_as_invoked(*invoked);
        return builder_.add_txn(event, text);
      case PayloadForm::as_invoked:
        if (const Event* invoked = invocation(event, PayloadKind::opaque)) {
          builder_.add_other(event, builder_.so_far().payload(*invoked), text);
        }
        return;
      case PayloadForm::transfer:
        return builder_.add_other(event, transfer(), text);
      case PayloadForm::balances:
        return builder_.add_other(event, balances(), text);
      case PayloadForm::fault:
        return builder_.add_other(event, fault(), text);
      case PayloadForm::opaque:
        return builder_.add_other(event, opaque(), text);
    }
    fail(fmt::format("it has a payload of the unknown form {}; a newer Ordeal wrote it",
                     static_cast<unsigned>(form)));
  }

  // The invocation that `completion` completes; `kind` is txn, or opaque for any other.
  const Event* invocation(const Event& completion, PayloadKind kind) {
    const Position open = builder_.open_invocation(completion.process);
    const bool in_block =
        open != kNoPosition && open >= first_ && completion.phase != Phase::invoke;
    const Event* invoked = in_block ? &builder_.so_far().event(open) : nullptr;
    const bool fits =
        invoked != nullptr && (invoked->kind == PayloadKind::txn) == (kind == PayloadKind::txn);
    if (!fits) fail("a completion refers to an invocation that is not in the block");
    return fits ? invoked : nullptr;
  }

  void txn() {
    const std::uint32_t count = micro_op_count_.next();
    if (!micro_key_.has(count)) return;
    for (std::uint32_t i = 0; i < count; ++i) {
      StoredMicroOp op;
      const std::uint32_t key = micro_key_.next();
      const auto function = static_cast<unsigned char>(micro_function_.next());
      if (key >= keys_.size()) return fail("it names a key that is not in its table");
      if (function > 2) return fail("it has an unknown micro-operation");
      op.key = keys_[key];
      op.function = static_cast<MicroFunction>(function);
      if (op.function == MicroFunction::read) {
        read_result(op, key);
      } else {
        op.value = value(micro_value_.next());
      }
      add_micro_op(op, key);
    }
  }

  void add_micro_op(const StoredMicroOp& op, std::uint32_t key) {
    builder_.add_micro_op(op);
    key_places_.push_back(key);
  }

  void txn_as_invoked(const Event& invoked) {
    for (std::uint32_t i = 0; i < invoked.micro_ops; ++i) {
      // By value and anew each time: adding may move the arrays.
      StoredMicroOp op = builder_.so_far().micro_ops(invoked)[i];
      const std::uint32_t key = key_places_[invoked.payload + i - first_micro_op_];
      if (op.function == MicroFunction::read) {
        op = StoredMicroOp();
        op.key = keys_[key];
        read_result(op, key);
      }
      add_micro_op(op, key);
    }
  }

  void read_result(StoredMicroOp& op, std::uint32_t key) {
    switch (static_cast<ReadResult>(read_result_.next())) {
      case ReadResult::nil:
        return;
      case ReadResult::list:
        return list(op, key);
      case ReadResult::scalar:
        op.value = value(read_value_.next());
        return;
    }
    fail("it has an unknown kind of read result");
  }

  void list(StoredMicroOp& op, std::uint32_t key) {
    ListRef& longest = longest_[key];
    ListRef read{longest.list, list_shared_.next()};
    const std::uint32_t rest = list_rest_.next();
    if (read.length > longest.length) return fail("a list shares more than the longest one has");
    if (!list_element_.has(rest)) return;
    if (rest != 0) {
      rest_.clear();
      for (std::uint32_t i = 0; i < rest; ++i) rest_.push_back(value(list_element_.next()));
      const ListRef known = read;
      read = builder_.add_list(op.key, known, rest_);
      if (read.list != known.list && (copied_ += known.length) > format::kCopiedMax) {
        return fail("its lists are larger than a reader may accept");
      }
    }
    op.has_list = true;
    op.list = read.list;
    op.length = read.length;
    if (read.length > longest.length) longest = read;
  }

  Payload transfer() {
    Transfer transfer;
    transfer.from = value(transfer_from_.next());
    transfer.to = value(transfer_to_.next());
    transfer.amount = transfer_amount_.next();
    return transfer;
  }

  Payload balances() {
    Balances balances;
    const std::uint32_t count = balance_count_.next();
    if (count == 0 || !balance_account_.has(count - 1)) return balances;
    balances.accounts.emplace();
    balances.accounts->reserve(count - 1);
    for (std::uint32_t i = 1; i < count; ++i) {
      const Value account = value(balance_account_.next());
      balances.accounts->emplace_back(account, balance_amount_.next());
    }
    return balances;
  }

  Payload fault() {
    FaultEvent event;
    if (faults_used_ == block_.fault_size()) return fail("a fault is missing"), event;
    const proto::Fault& fault = block_.fault(faults_used_++);
    event.fault = fault.fault();
    event.action = fault.action() == 0 ? FaultAction::inject : FaultAction::heal;
    event.hosts.assign(fault.hosts().begin(), fault.hosts().end());
    event.detail = fault.detail();
    event.legs.assign(fault.legs().begin(), fault.legs().end());
    event.direction = fault.direction();
    event.share = fault.share();
    event.effect = fault.effect();
    event.seen_direction = fault.seen_direction();
    return event;
  }

  Payload opaque() {
    if (opaques_used_ == block_.opaque_size()) return fail("a payload is missing"), Opaque{};
    return Opaque{block_.opaque(opaques_used_++)};
  }

  Value value(std::int64_t code) {
    if ((code & 1) == 0) return Value(code >> 1);
    const auto text = static_cast<std::uint64_t>(code) >> 1U;
    if (text == 0) return Value();
    if (text > texts_.size()) return fail("it names a text that is not in its table"), Value();
    return texts_[text - 1];
  }

  void check_exhausted() {
    const bool exact =
        (block_.index_jump().empty() || index_jump_.exact()) && time_delta_.exact() &&
        process_.exact() && (block_.function().empty() || function_.exact()) &&
        micro_op_count_.exact() && micro_function_.exact() && micro_key_.exact() &&
        micro_value_.exact() && read_result_.exact() && read_value_.exact() &&
        list_shared_.exact() && list_rest_.exact() && list_element_.exact() &&
        transfer_from_.exact() && transfer_to_.exact() && transfer_amount_.exact() &&
        balance_count_.exact() && balance_account_.exact() && balance_amount_.exact();
    if (!exact) fail("the lengths of its columns don't match");
  }

  const proto::Block& block_;
  HistoryBuilder& builder_;
  const Position first_;              // what the history held before this block
  const std::size_t first_micro_op_;  // likewise
  std::uint64_t index_;
  std::int64_t time_;
  std::string error_;

  std::vector<Value> texts_;
  std::vector<KeyId> keys_;
  std::vector<ListRef> longest_;  // by place in the key table
  std::vector<std::uint16_t> functions_;
  std::vector<std::uint32_t> key_places_;  // of each micro-op of the block
  std::vector<Value> rest_;                // scratch
  std::size_t copied_ = 0;
  std::uint32_t note_at_ = 0;
  int notes_used_ = 0;
  int faults_used_ = 0;
  int opaques_used_ = 0;

  Column<std::int64_t> index_jump_{block_.index_jump()};
  Column<std::int64_t> time_delta_{block_.time_delta_ns()};
  Column<std::uint32_t> process_{block_.process()};
  Column<std::uint32_t> function_{block_.function()};
  Column<std::uint32_t> micro_op_count_{block_.micro_op_count()};
  Column<char> micro_function_{block_.micro_function()};
  Column<std::uint32_t> micro_key_{block_.micro_key()};
  Column<std::int64_t> micro_value_{block_.micro_value()};
  Column<char> read_result_{block_.read_result()};
  Column<std::int64_t> read_value_{block_.read_value()};
  Column<std::uint32_t> list_shared_{block_.list_shared()};
  Column<std::uint32_t> list_rest_{block_.list_rest()};
  Column<std::int64_t> list_element_{block_.list_element()};
  Column<std::int64_t> transfer_from_{block_.transfer_from()};
  Column<std::int64_t> transfer_to_{block_.transfer_to()};
  Column<std::int64_t> transfer_amount_{block_.transfer_amount()};
  Column<std::uint32_t> balance_count_{block_.balance_count()};
  Column<std::int64_t> balance_account_{block_.balance_account()};
  Column<std::int64_t> balance_amount_{block_.balance_amount()};
};

}  // namespace

std::string decode_block(const proto::Block& block, HistoryBuilder& builder) {
  return Decoder(block, builder).decode();
}

}  // namespace ordeal
