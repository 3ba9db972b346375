// Random small histories against an enumeration of all serial orders, and of all executions under
// snapshot isolation. Real stores under random
// schedules give mostly valid histories; a random change of one read gives the invalid ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "tests/checkers/shorthand.h"

namespace ordeal::test {
namespace {

constexpr std::size_t kKeys = 2;
using Random = std::mt19937_64;
using State = std::array<std::vector<int>, kKeys>;

struct Op {
  bool append;
  std::size_t key;
  int element = 0;
  std::vector<int> seen;
};
struct Txn1 {
  std::vector<Op> ops;
  std::size_t begin = 0;  // places in the history
  std::size_t end = 0;
};

std::size_t pick(Random& random, std::size_t below) {
  return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
}

// Overlapping transactions of 1 to 3 micro-operations, their places in time, and reads to be filled
// in.
std::vector<Txn1> make_transactions(Random& random) {
  std::vector<Txn1> txns(1 + pick(random, 5));
  int element = 0;
  for (Txn1& txn : txns) {
    const std::size_t count = 1 + pick(random, 3);
    for (std::size_t at = 0; at < count; ++at) {
      const bool append = pick(random, 2) == 0;
      txn.ops.push_back({append, pick(random, kKeys), append ? ++element : 0, {}});
    }
  }
  std::vector<std::size_t> places;
  for (std::size_t id = 0; id < txns.size(); ++id) places.insert(places.end(), {id, id});
  std::shuffle(places.begin(), places.end(), random);
  std::vector<bool> begun(txns.size());
  for (std::size_t place = 0; place < places.size(); ++place) {
    (begun[places[place]] ? txns[places[place]].end : txns[places[place]].begin) = place;
    begun[places[place]] = true;
  }
  return txns;
}

void run(Txn1& txn, State& state) {
  for (Op& op : txn.ops) {
    if (op.append) {
      state[op.key].push_back(op.element);
    } else {
      op.seen = state[op.key];
    }
  }
}

bool reproduces(const Txn1& txn, State& state) {
  for (const Op& op : txn.ops) {
    if (op.append) {
      state[op.key].push_back(op.element);
    } else if (op.seen != state[op.key]) {
      return false;
    }
  }
  return true;
}

bool serial_order_exists(const std::vector<Txn1>& txns, bool real_time) {
  std::vector<std::size_t> order(txns.size());
  std::iota(order.begin(), order.end(), 0U);
  do {
    bool fits = true;
    for (std::size_t a = 0; real_time && a < order.size(); ++a) {
      for (std::size_t b = a + 1; b < order.size(); ++b)
        fits = fits && txns[order[b]].end > txns[order[a]].begin;
    }
    State state;
    for (std::size_t at = 0; fits && at < order.size(); ++at)
      fits = reproduces(txns[order[at]], state);
    if (fits) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

// Executes in a random order, sometimes against an older state or with a read cut short or
// scrambled.
void execute(std::vector<Txn1>& txns, Random& random) {
  std::vector<std::size_t> order(txns.size());
  std::iota(order.begin(), order.end(), 0U);
  std::shuffle(order.begin(), order.end(), random);
  const std::size_t mode = pick(random, 3);
  if (mode != 0) {
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return txns[a].end < txns[b].end; });
  }
  State state;
  for (const std::size_t id : order) run(txns[id], state);
  if (mode == 2) return;
  std::vector<Op*> reads;
  for (Txn1& txn : txns) {
    for (Op& op : txn.ops) {
      if (!op.append) reads.push_back(&op);
    }
  }
  for (std::size_t change = 0; !reads.empty() && change < pick(random, 4); ++change) {
    Op& op = *reads[pick(random, reads.size())];
    if (op.seen.empty() || pick(random, 8) == 0) {
      op.seen = state[op.key];
    } else if (pick(random, 10) == 0) {
      std::shuffle(op.seen.begin(), op.seen.end(), random);
    } else {
      op.seen.resize(pick(random, op.seen.size() + 1));
    }
  }
}

std::vector<Txn1> random_execution(std::uint64_t seed) {
  Random random(seed);
  std::vector<Txn1> txns = make_transactions(random);
  execute(txns, random);
  return txns;
}

ordeal::Txn to_txn(const Txn1& txn, bool results) {
  ordeal::Txn result;
  for (const Op& op : txn.ops) {
    MicroOp micro{op.append ? MicroFunction::append : MicroFunction::read,
                  Value(static_cast<std::int64_t>(op.key)), Value(), std::nullopt};
    if (op.append) micro.value = Value(std::int64_t{op.element});
    if (!op.append && results) micro.list.emplace();
    if (!op.append && results) {
      for (const int element : op.seen) micro.list->emplace_back(std::int64_t{element});
    }
    result.micro_ops.push_back(std::move(micro));
  }
  return result;
}

History to_history(const std::vector<Txn1>& txns) {
  HistoryBuilder builder;
  for (std::size_t place = 0; place < 2 * txns.size(); ++place) {
    for (std::size_t id = 0; id < txns.size(); ++id) {
      const bool begins = txns[id].begin == place;
      if (!begins && txns[id].end != place) continue;
      Operation operation;
      operation.index = place;
      operation.process = ProcessId{static_cast<std::int64_t>(id)};
      operation.phase = begins ? Phase::invoke : Phase::ok;
      operation.function = "txn";
      operation.payload = to_txn(txns[id], !begins);
      builder.add(operation);
    }
  }
  return std::move(builder).build();
}

// Depth-first over all orders of starts and commits. A transaction reads what had committed when it
// started, and its own appends; of two that append to one key, one commits before the other starts.
class SnapshotExecutions {
 public:
  SnapshotExecutions(const std::vector<Txn1>& txns, bool real_time)
      : txns_(txns), real_time_(real_time), snapshots_(txns.size()), done_(txns.size()) {}

  bool exist() {
    bool all_done = true;
    for (std::size_t id = 0; id < txns_.size(); ++id) {
      if (done_[id]) continue;
      all_done = false;
      if (snapshots_[id] ? commit(id) : start(id)) return true;
    }
    return all_done;
  }

 private:
  bool start(std::size_t id) {
    for (std::size_t other = 0; real_time_ && other < txns_.size(); ++other) {
      if (txns_[other].end < txns_[id].begin && !done_[other]) return false;
    }
    State own = committed_;
    if (!reproduces(txns_[id], own)) return false;
    snapshots_[id] = committed_;
    const bool found = exist();
    snapshots_[id].reset();
    return found;
  }

  bool commit(std::size_t id) {
    const State before = committed_;
    for (const Op& op : txns_[id].ops) {
      if (op.append && before[op.key] != (*snapshots_[id])[op.key]) return false;
    }
    for (const Op& op : txns_[id].ops) {
      if (op.append) committed_[op.key].push_back(op.element);
    }
    done_[id] = true;
    const bool found = exist();
    done_[id] = false;
    committed_ = before;
    return found;
  }

  const std::vector<Txn1>& txns_;
  bool real_time_;
  State committed_;
  std::vector<std::optional<State>> snapshots_;
  std::vector<bool> done_;
};

// Appends to one key that nobody read, of several transactions: which came first is not known, and
// the checker finds nothing where either order would do.
bool has_rivals(const std::vector<Txn1>& txns) {
  std::set<int> seen;
  std::array<std::set<std::size_t>, kKeys> unread;
  for (const Txn1& txn : txns) {
    for (const Op& op : txn.ops) seen.insert(op.seen.begin(), op.seen.end());
  }
  for (std::size_t id = 0; id < txns.size(); ++id) {
    for (const Op& op : txns[id].ops) {
      if (op.append && !seen.contains(op.element)) unread[op.key].insert(id);
    }
  }
  return std::any_of(unread.begin(), unread.end(), [](const auto& ids) { return ids.size() > 1; });
}

TEST_CASE("verdicts agree with an enumeration of all executions under snapshots", "[slow]") {
  constexpr std::uint64_t kSeeds = 30'000;
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<Txn1> txns = random_execution(seed);
    const History history = to_history(txns);
    for (const bool real_time : {false, true}) {
      const std::string model = real_time ? "strong-snapshot-isolation" : "snapshot-isolation";
      const bool exists = SnapshotExecutions(txns, real_time).exist();
      const bool found = check_append(history, model).validity == Validity::valid;
      ++seen[fmt::format("{} {}", model, exists)];
      if (found == exists || (found && has_rivals(txns))) continue;
      CAPTURE(seed, model, exists, found);
      FAIL("the checker disagrees with the enumeration");
    }
  }
  for (const auto& [outcome, count] : seen) CHECK(count > 1000);
  CHECK(seen.size() == 4);
}

// The same histories with registers in place of lists: a read shows the last element alone.
History to_registers(const std::vector<Txn1>& txns) {
  HistoryBuilder builder;
  const History lists = to_history(txns);
  for (Position position = 0; position < lists.size(); ++position) {
    Operation operation = lists.operation(position);
    for (MicroOp& op : std::get<ordeal::Txn>(operation.payload).micro_ops) {
      if (op.function == MicroFunction::append) op.function = MicroFunction::write;
      if (op.list && !op.list->empty()) op.value = op.list->back();
      op.list.reset();
    }
    builder.add(operation);
  }
  return std::move(builder).build();
}

TEST_CASE("registers: nothing is found where a serial order exists, and mostly that order is",
          "[slow]") {
  int serial = 0;
  int proved = 0;
  for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
    const std::vector<Txn1> txns = random_execution(seed);
    if (!serial_order_exists(txns, false)) continue;
    ++serial;
    const CheckResult result =
        check("rw-register", to_registers(txns),
              {{"model", {"serializable", "test"}}, {"certificate", {"true", "test"}}});
    proved += result.certificate.size() == txns.size() ? 1 : 0;
    if (result.validity == Validity::valid) continue;
    CAPTURE(seed, result.reason);
    FAIL("found what is not there");
  }
  CHECK(serial > 5000);
  CHECK(proved > serial * 9 / 10);
}

TEST_CASE("verdicts agree with an enumeration of all serial orders", "[slow]") {
  constexpr std::uint64_t kSeeds = 50'000;
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<Txn1> txns = random_execution(seed);
    const History history = to_history(txns);
    const bool serializable = serial_order_exists(txns, false);
    const bool strict = serializable && serial_order_exists(txns, true);
    const bool found = check_append(history, "serializable").validity == Validity::valid;
    const bool found_strict =
        check_append(history, "strict-serializable").validity == Validity::valid;
    ++seen[strict ? "strict" : serializable ? "serializable" : "neither"];
    if (found == serializable && found_strict == strict) continue;
    CAPTURE(seed, serializable, found, strict, found_strict);
    FAIL("the checker disagrees with the enumeration");
  }
  // Each outcome was put to the test.
  for (const char* outcome : {"strict", "serializable", "neither"}) CHECK(seen[outcome] > 1000);
}

}  // namespace
}  // namespace ordeal::test
