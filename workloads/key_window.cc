#include "workloads/key_window.h"

#include <algorithm>
#include <cmath>

namespace ordeal {
namespace {

// Share of a key's writes that are used on average: the rest absorbs the spread of random draws,
// which would otherwise turn many writes into reads.
constexpr double kFill = 0.8;
constexpr std::int64_t kFinalReadsPerTransaction = 8;

}  // namespace

constinit const std::array<OptionSpec, 5> kTxnOptions = {{
    {.name = "keys",
     .type = OptionType::integer,
     .default_value = "10",
     .summary = "keys in use at a time",
     .minimum = 1,
     .maximum = 10'000},
    {.name = "max-writes-per-key",
     .type = OptionType::integer,
     .default_value = "64",
     .summary = "most writes to one key, over all workers",
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

Result<TxnSettings> read_txn_settings(std::string_view workload, const Options& options) {
  const TxnSettings settings{.keys = options.integer("keys"),
                             .max_writes = options.integer("max-writes-per-key"),
                             .min_length = options.integer("min-transaction-length"),
                             .max_length = options.integer("max-transaction-length"),
                             .read_ratio = options.real("read-ratio")};
  if (settings.min_length > settings.max_length) {
    return bad_input(
        "workload {}: min-transaction-length is {}, which is more than max-transaction-length, {}",
        workload, settings.min_length, settings.max_length);
  }
  if (settings.read_ratio < 0 || settings.read_ratio > 1) {
    return bad_input("workload {}: read-ratio is {}: expected 0 to 1", workload,
                     settings.read_ratio);
  }
  return settings;
}

std::int64_t write_quota(std::int64_t max_writes, std::int64_t key, std::size_t worker,
                         std::size_t workers) {
  const auto count = static_cast<std::int64_t>(workers);
  const bool gets_one_more = (key + static_cast<std::int64_t>(worker)) % count < max_writes % count;
  return max_writes / count + (gets_one_more ? 1 : 0);
}

MicroOp read_of(std::int64_t key) { return {.key = Value(key), .value = {}, .list = {}}; }

KeyWindow::KeyWindow(const TxnSettings& settings, std::size_t worker, std::size_t workers)
    : keys_(settings.keys), max_writes_(settings.max_writes), worker_(worker), workers_(workers) {
  const double mean_length = static_cast<double>(settings.min_length + settings.max_length) / 2;
  const double writes = mean_length * (1 - settings.read_ratio) * static_cast<double>(workers);
  // With reads alone the window still moves, one key per hundred transactions of all workers.
  keys_per_transaction_ =
      std::max(writes / (kFill * static_cast<double>(settings.max_writes)), 0.01);
}

void KeyWindow::begin_transaction() {
  oldest_ = static_cast<std::int64_t>(
      std::floor(static_cast<double>(transactions_) * keys_per_transaction_));
  writes_.erase(writes_.begin(), writes_.lower_bound(oldest_));
  ++transactions_;
}

std::int64_t KeyWindow::draw_key(Random& random) const {
  const double halvings = random.exponential() / std::log(2.0);
  const auto age = static_cast<std::int64_t>(std::min(halvings, 1e9)) % keys_;
  return oldest_ + keys_ - 1 - age;
}

std::optional<std::pair<Value, Value>> KeyWindow::write_near(std::int64_t key) {
  for (std::int64_t candidate = key; candidate >= oldest_; --candidate) {
    std::int64_t& written = writes_[candidate];
    if (written >= write_quota(max_writes_, candidate, worker_, workers_)) continue;
    const auto value =
        static_cast<std::int64_t>(worker_) + 1 + written * static_cast<std::int64_t>(workers_);
    ++written;
    return std::pair(Value(candidate), Value(value));
  }
  return std::nullopt;
}

Txn KeyWindow::next_final_reads() {
  if (final_ < 0) final_ = std::max<std::int64_t>(0, oldest_ - keys_);
  const auto end = std::min(final_ + kFinalReadsPerTransaction, oldest_ + keys_);
  Txn txn;
  for (; final_ < end; ++final_) txn.micro_ops.push_back(read_of(final_));
  return txn;
}

}  // namespace ordeal
