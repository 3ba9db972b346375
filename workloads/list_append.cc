#include "workloads/list_append.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <map>

#include "workloads/isolation.h"

namespace ordeal {
namespace {

const std::array<OptionSpec, 6>& specs() {
  static const std::array<OptionSpec, 6> kSpecs = {{
      kIsolationOption,
      {.name = "keys",
       .type = OptionType::integer,
       .default_value = "10",
       .summary = "keys in use at a time",
       .minimum = 1,
       .maximum = 10'000},
      {.name = "max-writes-per-key",
       .type = OptionType::integer,
       .default_value = "64",
       .summary = "most appends to one key, over all workers",
       .minimum = 1,
       .maximum = 1'000'000},
      {.name = "min-transaction-length",
       .type = OptionType::integer,
       .default_value = "1",
       .summary = "fewest micro-operations of a transaction",
       .minimum = 1,
       .maximum = 1000},
      {.name = "max-transaction-length",
       .type = OptionType::integer,
       .default_value = "4",
       .summary = "most micro-operations of a transaction",
       .minimum = 1,
       .maximum = 1000},
      {.name = "read-ratio",
       .type = OptionType::real,
       .default_value = "0.5",
       .summary = "share of reads among the micro-operations, 0 to 1"},
  }};
  return kSpecs;
}

struct Settings {
  std::int64_t keys = 0;
  std::int64_t max_writes = 0;
  std::int64_t min_length = 0;
  std::int64_t max_length = 0;
  double read_ratio = 0;
};

// Share of a key's writes that are used on average: the rest absorbs the spread of random draws,
// which would otherwise turn many appends into reads.
constexpr double kFill = 0.8;
constexpr std::int64_t kFinalReadsPerTransaction = 8;

MicroOp read_of(std::int64_t key) { return {.key = Value(key), .value = {}, .list = {}}; }

class ListAppendGenerator : public Generator {
 public:
  ListAppendGenerator(const Settings& settings, std::size_t worker, std::size_t workers,
                      Random random)
      : settings_(settings), worker_(worker), workers_(workers), random_(random) {
    const double mean_length = static_cast<double>(settings.min_length + settings.max_length) / 2;
    const double writes = mean_length * (1 - settings.read_ratio) * static_cast<double>(workers);
    // With reads alone the window still moves, one key per hundred transactions of all workers.
    keys_per_transaction_ =
        std::max(writes / (kFill * static_cast<double>(settings.max_writes)), 0.01);
  }

  Invocation next() override {
    move_window();
    Txn txn;
    const auto length = random_.between(settings_.min_length, settings_.max_length);
    for (std::int64_t i = 0; i < length; ++i) txn.micro_ops.push_back(micro_op());
    ++transactions_;
    return {"txn", std::move(txn)};
  }

  // Reads the window and the one before it: what was appended last has been read least.
  std::optional<Invocation> next_final() override {
    if (final_ < 0) final_ = std::max<std::int64_t>(0, oldest_ - settings_.keys);
    const auto end = std::min(final_ + kFinalReadsPerTransaction, oldest_ + settings_.keys);
    Txn txn;
    for (; final_ < end; ++final_) txn.micro_ops.push_back(read_of(final_));
    if (txn.micro_ops.empty()) return std::nullopt;
    return Invocation{"txn", std::move(txn)};
  }

 private:
  void move_window() {
    oldest_ = static_cast<std::int64_t>(
        std::floor(static_cast<double>(transactions_) * keys_per_transaction_));
    writes_.erase(writes_.begin(), writes_.lower_bound(oldest_));
  }

  // Always draws as many numbers, whatever the quotas say.
  MicroOp micro_op() {
    const bool read = random_.chance(settings_.read_ratio);
    const std::int64_t key = draw_key();
    return read ? read_of(key) : append_near(key);
  }

  std::int64_t draw_key() {
    const double halvings = random_.exponential() / std::log(2.0);
    const auto age = static_cast<std::int64_t>(std::min(halvings, 1e9)) % settings_.keys;
    return oldest_ + settings_.keys - 1 - age;
  }

  // An append to `key`, or to the next older key with quota left, or else a read of `key`.
  MicroOp append_near(std::int64_t key) {
    for (std::int64_t candidate = key; candidate >= oldest_; --candidate) {
      std::int64_t& written = writes_[candidate];
      if (written >= write_quota(settings_.max_writes, candidate, worker_, workers_)) continue;
      const auto element =
          static_cast<std::int64_t>(worker_) + 1 + written * static_cast<std::int64_t>(workers_);
      ++written;
      return {MicroFunction::append, Value(candidate), Value(element), {}};
    }
    return read_of(key);
  }

  Settings settings_;
  std::size_t worker_;
  std::size_t workers_;
  Random random_;
  double keys_per_transaction_ = 0;
  std::int64_t transactions_ = 0;
  std::int64_t oldest_ = 0;                      // key of the window
  std::int64_t final_ = -1;                      // next key to read in the end, -1: not begun
  std::map<std::int64_t, std::int64_t> writes_;  // of this worker, per key of the window
};

class ListAppend : public Workload {
 public:
  explicit ListAppend(const Settings& settings) : settings_(settings) {}

  std::unique_ptr<Generator> generator(std::size_t worker, std::size_t workers,
                                       Random random) const override {
    assert(worker < workers);
    return std::make_unique<ListAppendGenerator>(settings_, worker, workers, random);
  }

 private:
  Settings settings_;
};

}  // namespace

std::int64_t write_quota(std::int64_t max_writes, std::int64_t key, std::size_t worker,
                         std::size_t workers) {
  const auto count = static_cast<std::int64_t>(workers);
  const bool gets_one_more = (key + static_cast<std::int64_t>(worker)) % count < max_writes % count;
  return max_writes / count + (gets_one_more ? 1 : 0);
}

std::span<const OptionSpec> list_append_workload_options() { return specs(); }

Result<std::unique_ptr<Workload>> make_list_append(const Options& options) {
  const Settings settings{.keys = options.integer("keys"),
                          .max_writes = options.integer("max-writes-per-key"),
                          .min_length = options.integer("min-transaction-length"),
                          .max_length = options.integer("max-transaction-length"),
                          .read_ratio = options.real("read-ratio")};
  if (settings.min_length > settings.max_length) {
    return bad_input(
        "workload list-append: min-transaction-length is {}, which is more than "
        "max-transaction-length, {}",
        settings.min_length, settings.max_length);
  }
  if (settings.read_ratio < 0 || settings.read_ratio > 1) {
    return bad_input("workload list-append: read-ratio is {}: expected 0 to 1",
                     settings.read_ratio);
  }
  return std::make_unique<ListAppend>(settings);
}

}  // namespace ordeal
