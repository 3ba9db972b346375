// Speed of the list-append checker on histories made in this process: a store that executes each
// transaction at one instant within its interval ("strict": valid), or at the snapshot of its
// beginning with first-committer-wins
// ("snapshot": valid under snapshot isolation, G2-item under serializable). 10 live keys, 20
// processes, at most 64 appends a key.
//
//   check_bench --benchmark_filter=strict
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "checkers/checker.h"
#include "history/history.h"

namespace ordeal {
namespace {

constexpr std::size_t kLiveKeys = 10;
constexpr std::size_t kProcesses = 20;
constexpr std::int64_t kAppendsMax = 64;

class Simulator {
 public:
  Simulator(std::uint64_t seed, bool snapshot) : random_(seed), snapshot_(snapshot) {
    for (std::size_t key = 0; key < kLiveKeys; ++key) live_.push_back(new_key());
  }

  History run(std::size_t transactions) {
    std::vector<Running> running(kProcesses);
    std::size_t started = 0;
    std::size_t active = 0;
    while (started < transactions || active > 0) {
      const std::size_t process = pick(kProcesses);
      Running& here = running[process];
      if (here.active) {
        finish(process, here);
        --active;
      } else if (started < transactions) {
        begin(process, here);
        ++started;
        ++active;
      }
    }
    return std::move(builder_).build();
  }

 private:
  struct Key {
    std::vector<Value> elements;
    std::int64_t next = 1;
  };
  struct Running {
    bool active = false;
    std::vector<MicroOp> micro_ops;
    std::vector<std::size_t> seen;  // length of each micro-operation's key at the beginning
  };

  std::size_t pick(std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_);
  }
  std::int64_t new_key() {
    keys_.emplace_back();
    return static_cast<std::int64_t>(keys_.size() - 1);
  }

  void begin(std::size_t process, Running& here) {
    here = {true, {}, {}};
    const std::size_t count = 1 + pick(4);
    for (std::size_t at = 0; at < count; ++at) {
      const auto draw =
          static_cast<std::size_t>(std::exponential_distribution<double>(0.3)(random_));
      std::int64_t& slot = live_[std::min(draw, kLiveKeys - 1)];
      Key& key = keys_[static_cast<std::size_t>(slot)];
      here.seen.push_back(key.elements.size());
      const bool append = pick(2) == 0;
      here.micro_ops.push_back({append ? MicroFunction::append : MicroFunction::read, Value(slot),
                                append ? Value(key.next) : Value(), std::nullopt});
      if (append && ++key.next > kAppendsMax) slot = new_key();
    }
    add(process, Phase::invoke, here.micro_ops);
  }

  Key& key_of(const MicroOp& micro_op) {
    return keys_[static_cast<std::size_t>(micro_op.key.integer())];
  }

  bool conflicts(const Running& here) {
    for (std::size_t at = 0; snapshot_ && at < here.micro_ops.size(); ++at) {
      const MicroOp& op = here.micro_ops[at];
      if (op.function == MicroFunction::append && key_of(op).elements.size() != here.seen[at])
        return true;
    }
    return false;
  }

  void finish(std::size_t process, Running& here) {
    here.active = false;
    if (conflicts(here)) return add(process, Phase::fail, here.micro_ops);
    for (std::size_t at = 0; at < here.micro_ops.size(); ++at) read(here, at);
    for (const MicroOp& op : here.micro_ops) {
      if (op.function == MicroFunction::append) key_of(op).elements.push_back(op.value);
    }
    add(process, Phase::ok, here.micro_ops);
  }

  void read(Running& here, std::size_t at) {
    MicroOp& op = here.micro_ops[at];
    if (op.function != MicroFunction::read) return;
    const auto& elements = key_of(op).elements;
    const std::size_t length = snapshot_ ? here.seen[at] : elements.size();
    op.list.emplace(elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(length));
    for (std::size_t own = 0; own < at; ++own) {
      const MicroOp& before = here.micro_ops[own];
      if (before.function == MicroFunction::append && before.key == op.key)
        op.list->push_back(before.value);
    }
  }

  void add(std::size_t process, Phase phase, const std::vector<MicroOp>& micro_ops) {
    Operation operation;
    operation.index = index_;
    operation.time = std::chrono::microseconds(50 * index_);
    operation.process = ProcessId{static_cast<std::int64_t>(process)};
    operation.phase = phase;
    operation.function = "txn";
    operation.payload = Txn{micro_ops};
    builder_.add(operation);
    ++index_;
  }

  std::mt19937_64 random_;
  bool snapshot_;
  std::vector<Key> keys_;
  std::vector<std::int64_t> live_;
  HistoryBuilder builder_;
  std::uint64_t index_ = 0;
};

void check(benchmark::State& state, bool snapshot, const char* model, Validity expected) {
  const History history = Simulator(7, snapshot).run(static_cast<std::size_t>(state.range(0)));
  const CheckerEntry& checker = checker_catalog()[0];
  const auto options = Options::make("checker", checker.options, {{"model", {model, "bench"}}});
  for (auto _ : state) {
    const CheckResult result = checker.check(history, *options, {});
    if (result.validity != expected) state.SkipWithError(result.reason.c_str());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void strict(benchmark::State& state) {
  check(state, false, "strict-serializable", Validity::valid);
}
void snapshot_valid(benchmark::State& state) {
  check(state, true, "snapshot-isolation", Validity::valid);
}
void snapshot_invalid(benchmark::State& state) {
  check(state, true, "strict-serializable", Validity::invalid);
}

#define ORDEAL_SIZES RangeMultiplier(10)->Range(10'000, 1'000'000)->Unit(benchmark::kMillisecond)
BENCHMARK(strict)->ORDEAL_SIZES;
BENCHMARK(snapshot_valid)->ORDEAL_SIZES;
BENCHMARK(snapshot_invalid)->ORDEAL_SIZES;

}  // namespace
}  // namespace ordeal

BENCHMARK_MAIN();
