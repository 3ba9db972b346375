// A whole history in memory: immutable after building, compact, in file order. Checkers read it and
// nothing else.
//
// Layout: one fixed-size Event per operation; the micro-operations of all transactions in one
// array; the lists that reads returned share storage, since nearly every read of a key is a prefix
// of the longest one. Built by HistoryBuilder. Reading is thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/huge_pages.h"
#include "history/operation.h"
#include "history/value.h"

namespace ordeal {

using Position = std::uint32_t;  // of an event in the history: 0 .. size() - 1
inline constexpr Position kNoPosition = 0xffffffffU;

using KeyId = std::uint32_t;  // dense number of a key: 0 .. key_count() - 1, by first appearance

enum class PayloadKind : std::uint8_t { txn, transfer, balances, fault, opaque };  // as in Payload

struct Event {
  std::uint64_t index = 0;  // as recorded
  std::int64_t time_ns = 0;
  ProcessId process;
  Position partner = kNoPosition;  // completion of an invocation, invocation of a completion
  std::uint32_t payload = 0;       // txn: its first micro-op; otherwise its place among the others
  std::uint32_t micro_ops = 0;     // txn: their number
  std::uint16_t function = 0;      // see History::function()
  Phase phase = Phase::invoke;
  PayloadKind kind = PayloadKind::opaque;
};

struct StoredMicroOp {
  Value value;  // append: the element; write, register read: the value
  KeyId key = 0;
  std::uint32_t list = 0;  // of a read: storage of its elements, see History::list()
  std::uint32_t length = 0;
  MicroFunction function = MicroFunction::read;
  bool has_list = false;  // false: the list is nil (not known, or a register)
};

class History {
 public:
  std::size_t size() const { return events_.size(); }
  const BigVector<Event>& events() const { return events_; }
  const Event& event(Position position) const { return events_[position]; }

  // Micro-operations of a transaction's event; empty for other kinds.
  std::span<const StoredMicroOp> micro_ops(const Event& event) const {
    if (event.kind != PayloadKind::txn) return {};
    return std::span(micro_ops_).subspan(event.payload, event.micro_ops);
  }
  // Elements that a read of a list returned; empty when not known.
  std::span<const Value> list(const StoredMicroOp& micro_op) const {
    return std::span(lists_[micro_op.list]).first(micro_op.length);
  }

  std::size_t key_count() const { return keys_.size(); }
  Value key(KeyId id) const { return keys_[id]; }

  std::string_view function(const Event& event) const { return functions_[event.function]; }
  // Payload of an event that is no transaction. Transactions: see micro_ops().
  const Payload& payload(const Event& event) const { return others_[event.payload]; }
  std::string_view note(Position position) const;  // "" where there is none

  // The event as a self-contained operation: for reports and exports, not for the checkers' loops.
  Operation operation(Position position) const;

 private:
  friend class HistoryBuilder;

  BigVector<Event> events_;
  BigVector<StoredMicroOp> micro_ops_;
  std::deque<std::vector<Value>> lists_;  // [0] is the empty list
  std::vector<Value> keys_;
  std::vector<std::string> functions_;
  std::vector<Payload> others_;
  std::unordered_map<Position, std::string> notes_;
};

// Appends operations in file order, pairs completions with invocations (per process, the last one
// that is still open), interns keys and shares the storage of lists. Not thread-safe.
class HistoryBuilder {
 public:
  HistoryBuilder();

  // What is expected to come, as far as known: a guess that costs no memory before it comes.
  void reserve(double events, double micro_ops);

  // `operation.index` and `time` are kept as given. A completion without an open invocation of its
  // process stays unpaired (partner == kNoPosition).
  void add(const Operation& operation);
  History build() &&;

  // ---- The parts of add(), for readers of files, which have no Operation in hand. ----
  // First the micro-ops of a transaction in order, then its event.
  struct ListRef {
    std::uint32_t list = 0;  // see StoredMicroOp
    std::uint32_t length = 0;
  };
  // Stores the list that starts as `known` (stored before, of the same key) and goes on with
  // `rest`.
  ListRef add_list(KeyId key, ListRef known, std::span<const Value> rest);
  void add_micro_op(const StoredMicroOp& micro_op) { history_.micro_ops_.push_back(micro_op); }
  // Sets `partner`, `payload`, `micro_ops` and `kind` of the event.
  void add_txn(Event event, std::string_view note);
  void add_other(Event event, Payload payload, std::string_view note);

  KeyId key_id(Value key);
  std::uint16_t function_id(std::string_view name);  // at most 65,536 names: see function_count()
  std::size_t function_count() const { return history_.functions_.size(); }
  Position open_invocation(ProcessId process) const;  // kNoPosition where there is none
  const History& so_far() const { return history_; }
  std::size_t micro_op_count() const { return history_.micro_ops_.size(); }
  const StoredMicroOp& micro_op(std::size_t place) const { return history_.micro_ops_[place]; }

 private:
  // Processes are small numbers in practice; others (the nemesis, hostile files) go to the map.
  static constexpr std::int64_t kSmallProcesses = std::int64_t{1} << 20U;

  void add_micro_op(const MicroOp& micro_op);
  void add_event(Event& event, std::string_view note);
  void pair(Event& event);
  Position& open(ProcessId process);

  History history_;
  std::map<std::string, std::uint16_t, std::less<>> function_ids_;
  std::unordered_map<Value, KeyId> key_ids_;
  std::vector<std::uint32_t> longest_;  // per key: the list that its reads are prefixes of, or 0
  std::size_t txn_begin_ = 0;           // first micro-op that belongs to no event yet
  std::vector<Position> open_;          // by process
  std::unordered_map<ProcessId, Position> open_others_;
};

}  // namespace ordeal
