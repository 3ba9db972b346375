#include "workloads/list_append.h"

#include <cassert>

#include "workloads/isolation.h"
#include "workloads/key_window.h"

namespace ordeal {
namespace {

const std::array<OptionSpec, 6>& specs() {
  static const std::array<OptionSpec, 6> kSpecs = {kIsolationOption, kTxnOptions[0],
                                                   kTxnOptions[1],   kTxnOptions[2],
                                                   kTxnOptions[3],   kTxnOptions[4]};
  return kSpecs;
}

class ListAppendGenerator : public Generator {
 public:
  ListAppendGenerator(const TxnSettings& settings, std::size_t worker, std::size_t workers,
                      Random random)
      : settings_(settings), random_(random), window_(settings, worker, workers) {}

  Invocation next() override {
    window_.begin_transaction();
    Txn txn;
    const auto length = random_.between(settings_.min_length, settings_.max_length);
    for (std::int64_t i = 0; i < length; ++i) txn.micro_ops.push_back(micro_op());
    return {"txn", std::move(txn)};
  }

  std::optional<Invocation> next_final() override {
    Txn reads = window_.next_final_reads();
    if (reads.micro_ops.empty()) return std::nullopt;
    return Invocation{"txn", std::move(reads)};
  }

 private:
  // Always draws as many numbers, whatever the quotas say.
  MicroOp micro_op() {
    const bool read = random_.chance(settings_.read_ratio);
    const std::int64_t key = window_.draw_key(random_);
    const auto write = read ? std::nullopt : window_.write_near(key);
    if (!write) return read_of(key);
    return {MicroFunction::append, write->first, write->second, {}};
  }

  TxnSettings settings_;
  Random random_;
  KeyWindow window_;
};

class ListAppend : public Workload {
 public:
  explicit ListAppend(const TxnSettings& settings) : settings_(settings) {}

  std::unique_ptr<Generator> generator(std::size_t worker, std::size_t workers,
                                       Random random) const override {
    assert(worker < workers);
    return std::make_unique<ListAppendGenerator>(settings_, worker, workers, random);
  }

 private:
  TxnSettings settings_;
};

}  // namespace

std::span<const OptionSpec> list_append_workload_options() { return specs(); }

Result<std::unique_ptr<Workload>> make_list_append(const Options& options) {
  ORDEAL_TRY_ASSIGN(const TxnSettings settings, read_txn_settings("list-append", options));
  return std::make_unique<ListAppend>(settings);
}

}  // namespace ordeal
