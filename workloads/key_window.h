// Which keys the transactions of a workload touch, and how many writes each gets.
//
// Keys come from a window of active keys that moves on with the number of generated transactions.
// All workers that have generated as many transactions have the same window, so they contend
// however many there are and however long they run. Inside the window the newest key is drawn half
// of the time, the next one a quarter, and so on, as in Elle's generator. Every key thus receives
// the same number of writes over its life, and the pace is such that this is a little less than
// max-writes-per-key.
//
// The limit holds over all workers without them talking to each other: it is divided into quotas.
// Written values are unique per key, over all workers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "base/random.h"
#include "history/operation.h"

namespace ordeal {

// How many of the `max_writes` writes of `key` belong to `worker`. Sums to `max_writes` over all
// workers.
std::int64_t write_quota(std::int64_t max_writes, std::int64_t key, std::size_t worker,
                         std::size_t workers);

// What workloads of transactions over many keys have in common.
struct TxnSettings {
  std::int64_t keys = 0;
  std::int64_t max_writes = 0;
  std::int64_t min_length = 0;
  std::int64_t max_length = 0;
  double read_ratio = 0;
};

// keys, max-writes-per-key, min-transaction-length, max-transaction-length, read-ratio.
extern const std::array<OptionSpec, 5> kTxnOptions;
// bad_input, which names the workload, where they make no sense together.
Result<TxnSettings> read_txn_settings(std::string_view workload, const Options& options);

class KeyWindow {
 public:
  KeyWindow(const TxnSettings& settings, std::size_t worker, std::size_t workers);

  void begin_transaction();  // moves the window
  std::int64_t draw_key(Random& random) const;
  // A key and a value to write: `key`, or the next older key with quota left; nullopt where none
  // has.
  std::optional<std::pair<Value, Value>> write_near(std::int64_t key);
  // Reads of the window and the one before it, a few at a time: what was written last has been read
  // least. Empty at the end.
  Txn next_final_reads();

 private:
  std::int64_t keys_;
  std::int64_t max_writes_;
  std::size_t worker_;
  std::size_t workers_;
  double keys_per_transaction_ = 0;
  std::int64_t transactions_ = 0;
  std::int64_t oldest_ = 0;                      // key of the window
  std::int64_t final_ = -1;                      // next key to read in the end, -1: not begun
  std::map<std::int64_t, std::int64_t> writes_;  // of this worker, per key of the window
};

MicroOp read_of(std::int64_t key);

}  // namespace ordeal
