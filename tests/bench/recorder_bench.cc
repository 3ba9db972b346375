// Speed of recording and reading histories. Figures: docs/performance.md.
//
//   recorder_bench --benchmark_filter=record     throughput, and latency of record() by percentile
//   recorder_bench --benchmark_filter=read       100,000 transactions from .ohist, EDN and JSON
//
// The histories are list-append: transactions of 1 to 4 micro-ops over 10 active keys, 64 appends a
// key.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

#include "base/random.h"
#include "history/reader.h"
#include "history/recorder.h"
#include "history/writer.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

struct Directory {
  fs::path path = fs::temp_directory_path() / fmt::format("ordeal-bench-{}", ::getpid());
  Directory() { fs::create_directories(path); }
  ~Directory() { fs::remove_all(path); }
};

fs::path in_directory(const std::string& name) {
  static const Directory directory;
  return directory.path / name;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Txn invocation() {
    Txn txn;
    for (std::uint64_t i = 0; i <= random_.below(4); ++i) {
      const auto slot = static_cast<std::size_t>(std::min(random_.exponential() * 3.3, 9.0));
      MicroOp op{MicroFunction::read, Value(keys_[slot]), Value(), std::nullopt};
      if (random_.chance(0.5)) {
        op.function = MicroFunction::append;
        op.value = Value(++elements_[keys_[slot]]);
        if (op.value.integer() == 64) keys_[slot] = next_key_++;
      }
      txn.micro_ops.push_back(std::move(op));
    }
    return txn;
  }

  // As if the transaction ran alone.
  Txn completion(Txn txn) {
    for (auto& op : txn.micro_ops) {
      auto& list = lists_[op.key.integer()];
      if (op.function == MicroFunction::append) list.push_back(op.value);
      if (op.function == MicroFunction::read) op.list = list;
    }
    return txn;
  }

 private:
  Random random_;
  std::vector<std::int64_t> keys_{0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::int64_t next_key_ = 10;
  std::map<std::int64_t, std::int64_t> elements_;
  std::map<std::int64_t, std::vector<Value>> lists_;
};

struct Step {
  ProcessId process;
  Phase phase = Phase::invoke;
  Payload payload;
};

// Of `processes` processes, which take turns: all invoke, then all complete.
std::vector<Step> steps(std::size_t transactions, std::int64_t processes, std::uint64_t seed = 1) {
  Generator generator(seed);
  std::vector<Step> steps;
  while (steps.size() < 2 * transactions) {
    const std::size_t begin = steps.size();
    for (std::int64_t i = 0; i < processes; ++i) {
      Step& invoked = steps.emplace_back();
      invoked.process = ProcessId{i};
      invoked.payload = generator.invocation();
    }
    for (std::int64_t i = 0; i < processes; ++i) {
      Txn invoked = std::get<Txn>(steps[begin + static_cast<std::size_t>(i)].payload);
      Step& completed = steps.emplace_back();
      completed.process = ProcessId{i};
      completed.phase = Phase::ok;
      completed.payload = generator.completion(std::move(invoked));
    }
  }
  return steps;
}

std::unique_ptr<Recorder> new_recorder() {
  static int number = 0;
  const auto path = in_directory(fmt::format("r{}.ohist", number++));
  return std::move(Recorder::create(path, {})).value();
}

// Operations through to the closed and synced file, by the time that all threads together spent on
// it: the figure for one core.
void record_throughput(benchmark::State& state) {
  const auto made = steps(100'000, 10);
  std::int64_t recorded = 0;
  for (auto _ : state) {
    state.PauseTiming();
    auto copies = made;
    auto recorder = new_recorder();
    state.ResumeTiming();
    for (auto& step : copies) {
      recorder->record(step.process, step.phase, "txn", std::move(step.payload));
    }
    if (!recorder->close()) state.SkipWithError("cannot record");
    recorded += static_cast<std::int64_t>(copies.size());
    state.PauseTiming();
    copies = {};
    state.ResumeTiming();
  }
  state.SetItemsProcessed(recorded);
}
BENCHMARK(record_throughput)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

double percentile(std::vector<std::int64_t>& sorted, double fraction) {
  return static_cast<double>(
      sorted[static_cast<std::size_t>(fraction * static_cast<double>(sorted.size() - 1))]);
}

using Nanoseconds = std::vector<std::int64_t>;

// Records the steps, asleep for `pause` before each completion as a client that waits for its
// server; returns how long each call took.
Nanoseconds record_all(Recorder& recorder, ProcessId process, std::vector<Step> steps,
                       std::chrono::milliseconds pause) {
  Nanoseconds took;
  took.reserve(steps.size());
  for (auto& step : steps) {
    if (step.phase == Phase::ok && pause.count() > 0) std::this_thread::sleep_for(pause);
    const auto begin = std::chrono::steady_clock::now();
    recorder.record(process, step.phase, "txn", std::move(step.payload));
    took.push_back((std::chrono::steady_clock::now() - begin).count());
  }
  return took;
}

// Threads, and their pause in ms: with 1 ms at a rate that a database client can reach, without
// every thread does nothing but record.
void record_latency(benchmark::State& state) {
  const auto threads = static_cast<std::size_t>(state.range(0));
  const std::chrono::milliseconds pause(state.range(1));
  Nanoseconds latencies;
  for (auto _ : state) {
    auto recorder = new_recorder();
    std::vector<Nanoseconds> measured(threads);
    std::vector<std::vector<Step>> made;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      made.push_back(steps(pause.count() > 0 ? 2'000 : 20'000, 1, thread));
    }
    std::vector<std::jthread> clients;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      clients.emplace_back([&, thread] {
        const ProcessId process{static_cast<std::int64_t>(thread)};
        measured[thread] = record_all(*recorder, process, std::move(made[thread]), pause);
      });
    }
    clients.clear();  // joins
    if (!recorder->close()) state.SkipWithError("cannot record");
    for (const auto& own : measured) latencies.insert(latencies.end(), own.begin(), own.end());
  }
  std::sort(latencies.begin(), latencies.end());
  state.counters["p50_ns"] = percentile(latencies, 0.5);
  state.counters["p99_ns"] = percentile(latencies, 0.99);
  state.counters["p999_ns"] = percentile(latencies, 0.999);
}
BENCHMARK(record_latency)
    ->ArgNames({"threads", "pause_ms"})
    ->ArgsProduct({{1, 10}, {1, 0}})
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void read_file(benchmark::State& state, const std::string& extension) {
  const auto path = in_directory("read" + extension);
  const auto transactions = static_cast<std::size_t>(state.range(0));
  HistoryBuilder builder;
  std::uint64_t index = 0;
  for (auto& step : steps(transactions, 10)) {
    builder.add({index, std::chrono::nanoseconds(index * 1000), step.process, step.phase, "txn",
                 std::move(step.payload), ""});
    ++index;
  }
  if (!write_history(path, std::move(builder).build(), {})) state.SkipWithError("cannot write");
  for (auto _ : state) {
    const auto read = read_history(path);
    if (!read || read->history.size() < 2 * transactions) state.SkipWithError("cannot read");
  }
  state.counters["file_bytes"] = static_cast<double>(fs::file_size(path));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(transactions));
}
BENCHMARK_CAPTURE(read_file, ohist, ".ohist")
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, edn, ".edn")
    ->Arg(100'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_file, jsonl, ".jsonl")
    ->Arg(100'000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ordeal

BENCHMARK_MAIN();
