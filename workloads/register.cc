#include "workloads/register.h"

#include <cassert>

#include "workloads/key_window.h"

namespace ordeal {
namespace {

constexpr OptionSpec kCasRatio = {
    .name = "cas-ratio",
    .type = OptionType::real,
    .default_value = "0.3",
    .summary = "share of compare-and-sets among the writes: they read the key first, 0 to 1"};

const std::array<OptionSpec, 6>& specs() {
  static const std::array<OptionSpec, 6> kSpecs = {kTxnOptions[0], kTxnOptions[1], kTxnOptions[2],
                                                   kTxnOptions[3], kTxnOptions[4], kCasRatio};
  return kSpecs;
}

class RegisterGenerator : public Generator {
 public:
  RegisterGenerator(const TxnSettings& settings, double cas_ratio, std::size_t worker,
                    std::size_t workers, Random random)
      : settings_(settings),
        cas_ratio_(cas_ratio),
        random_(random),
        window_(settings, worker, workers) {}

  Invocation next() override {
    window_.begin_transaction();
    Txn txn;
    const auto length = random_.between(settings_.min_length, settings_.max_length);
    for (std::int64_t i = 0; i < length; ++i) add_micro_ops(txn.micro_ops);
    return {"txn", std::move(txn)};
  }

  std::optional<Invocation> next_final() override {
    Txn reads = window_.next_final_reads();
    if (reads.micro_ops.empty()) return std::nullopt;
    return Invocation{"txn", std::move(reads)};
  }

 private:
  // Always draws as many numbers, whatever the quotas say.
  void add_micro_ops(std::vector<MicroOp>& ops) {
    const bool read = random_.chance(settings_.read_ratio);
    const bool cas = random_.chance(cas_ratio_);
    const std::int64_t key = window_.draw_key(random_);
    const auto write = read ? std::nullopt : window_.write_near(key);
    if (!write) return ops.push_back(read_of(key));
    if (cas) ops.push_back(read_of(write->first.integer()));
    ops.push_back({MicroFunction::write, write->first, write->second, {}});
  }

  TxnSettings settings_;
  double cas_ratio_;
  Random random_;
  KeyWindow window_;
};

class Register : public Workload {
 public:
  Register(const TxnSettings& settings, double cas_ratio)
      : settings_(settings), cas_ratio_(cas_ratio) {}

  std::unique_ptr<Generator> generator(std::size_t worker, std::size_t workers,
                                       Random random) const override {
    assert(worker < workers);
    return std::make_unique<RegisterGenerator>(settings_, cas_ratio_, worker, workers, random);
  }

 private:
  TxnSettings settings_;
  double cas_ratio_;
};

}  // namespace

std::span<const OptionSpec> register_workload_options() { return specs(); }

Result<std::unique_ptr<Workload>> make_register(const Options& options) {
  ORDEAL_TRY_ASSIGN(const TxnSettings settings, read_txn_settings("register", options));
  const double cas_ratio = options.real("cas-ratio");
  if (cas_ratio >= 0 && cas_ratio <= 1) return std::make_unique<Register>(settings, cas_ratio);
  return bad_input("workload register: cas-ratio is {}: expected 0 to 1", cas_ratio);
}

}  // namespace ordeal
