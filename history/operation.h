// One event of a history, in Jepsen's vocabulary: a process invokes an operation, and the operation
// completes as ok (it happened), fail (it certainly did not) or info (it may have, or may still).
// This is the form in which workloads, clients and the recorder handle single operations; whole
// histories are held compactly by History (history/history.h).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/strong_id.h"
#include "history/value.h"

namespace ordeal {

// A logical, single-threaded process. Retired after info: its operation may still be running.
using ProcessId = StrongId<struct ProcessTag>;
inline constexpr ProcessId kNemesis{-1};

enum class Phase : std::uint8_t { invoke, ok, fail, info };
std::string_view phase_name(Phase phase);

// Of directions of a leg ("upstream", "downstream", "both"): all that either has. "" has none.
std::string both_directions(const std::string& a, const std::string& b);

enum class MicroFunction : std::uint8_t { read, append, write };
std::string_view micro_function_name(MicroFunction function);  // "r", "append", "w"

// [:append 3 7], [:r 3 nil], [:r 3 [7 8]], [:w 3 9].
struct MicroOp {
  MicroFunction function = MicroFunction::read;
  Value key;
  Value value;                             // append: the element; write, register read: the value
  std::optional<std::vector<Value>> list;  // read of a list, once known; nullopt is nil
  friend bool operator==(const MicroOp&, const MicroOp&) = default;
};

struct Txn {
  std::vector<MicroOp> micro_ops;
  friend bool operator==(const Txn&, const Txn&) = default;
};

struct Transfer {
  Value from;
  Value to;
  std::int64_t amount = 0;
  friend bool operator==(const Transfer&, const Transfer&) = default;
};

// What a read of all accounts saw, in ascending order of account; nullopt in the invocation.
struct Balances {
  std::optional<std::vector<std::pair<Value, std::int64_t>>> accounts;
  friend bool operator==(const Balances&, const Balances&) = default;
};

enum class FaultAction : std::uint8_t { inject, heal };

// An operation of process kNemesis: invoke when it begins, info when it is done.
struct FaultEvent {
  std::string fault;  // name in the catalogue of faults, e.g. "partition"
  FaultAction action = FaultAction::inject;
  std::vector<std::string> hosts;
  std::string detail;               // e.g. "n1 drops what ctl sends it"
  std::vector<std::string> legs{};  // connections that it touches, e.g. "client-db"
  std::string direction{};          // of these: "upstream", "downstream", "both"; "" without legs
  std::string share{};              // of the system's hosts: "one", "some", "all"; "" with legs
  std::string effect{};             // measured after injection or healing, in words
  // Of "both", where each was looked at alone: in which there was an effect.
  std::string seen_direction{};
  friend bool operator==(const FaultEvent&, const FaultEvent&) = default;
};

// Any other value, as EDN text; what an import does not understand survives in it.
struct Opaque {
  std::string edn;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

using Payload = std::variant<Txn, Transfer, Balances, FaultEvent, Opaque>;

struct Operation {
  std::uint64_t index = 0;           // 0, 1, 2, ... no gaps
  std::chrono::nanoseconds time{0};  // since the run's start, control node's steady clock
  ProcessId process;
  Phase phase = Phase::invoke;
  std::string function;  // "txn", "transfer", "read", "start-partition", ...
  Payload payload;
  std::string note;  // fail and info: why
  friend bool operator==(const Operation&, const Operation&) = default;
};

}  // namespace ordeal
