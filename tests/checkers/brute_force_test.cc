// Random small histories against an enumeration of all serial orders. Real stores under random
// schedules give mostly valid histories; a random change of one read gives the invalid ones.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>

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

TEST_CASE("verdicts agree with an enumeration of all serial orders") {
  constexpr std::uint64_t kSeeds = 50'000;
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Random random(seed);
    std::vector<Txn1> txns = make_transactions(random);
    execute(txns, random);
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
