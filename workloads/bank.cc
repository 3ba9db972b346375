#include "workloads/bank.h"

#include <array>

#include "workloads/isolation.h"

namespace ordeal {
namespace {

constexpr std::array<std::string_view, 2> kClients = {"safe", "unsafe"};

const std::array<OptionSpec, 7>& specs() {
  static const std::array<OptionSpec, 7> kSpecs = {{
      kIsolationOption,
      {.name = "accounts",
       .type = OptionType::integer,
       .default_value = "8",
       .summary = "number of accounts",
       .minimum = 2,
       .maximum = 1'000'000},
      {.name = "initial-balance",
       .type = OptionType::integer,
       .default_value = "10",
       .summary = "of each account",
       .minimum = 0,
       .maximum = 1'000'000'000},
      {.name = "max-transfer",
       .type = OptionType::integer,
       .default_value = "5",
       .summary = "largest amount transferred at once",
       .minimum = 1,
       .maximum = 1'000'000'000},
      {.name = "read-ratio",
       .type = OptionType::real,
       .default_value = "0.5",
       .summary = "share of reads of all accounts, 0 to 1"},
      {.name = "client",
       .type = OptionType::text,
       .default_value = "safe",
       .summary =
           "unsafe: read balances, compute, write them back; loses updates at read committed",
       .choices = kClients},
      {.name = "negative-balances",
       .type = OptionType::boolean,
       .default_value = "false",
       .summary = "true: transfers may overdraw an account"},
  }};
  return kSpecs;
}

struct Settings {
  std::int64_t accounts = 0;
  std::int64_t max_transfer = 0;
  double read_ratio = 0;
};

class BankGenerator : public Generator {
 public:
  BankGenerator(const Settings& settings, Random random) : settings_(settings), random_(random) {}

  Invocation next() override {
    if (random_.chance(settings_.read_ratio)) return {"read", Balances{}};
    const auto from = random_.between(0, settings_.accounts - 1);
    const auto others = random_.between(0, settings_.accounts - 2);
    const auto to = others < from ? others : others + 1;
    return {"transfer", Transfer{.from = Value(from),
                                 .to = Value(to),
                                 .amount = random_.between(1, settings_.max_transfer)}};
  }

  std::optional<Invocation> next_final() override {
    if (finished_) return std::nullopt;
    finished_ = true;
    return Invocation{"read", Balances{}};
  }

 private:
  Settings settings_;
  Random random_;
  bool finished_ = false;
};

class Bank : public Workload {
 public:
  explicit Bank(const Settings& settings) : settings_(settings) {}

  std::unique_ptr<Generator> generator(std::size_t /*worker*/, std::size_t /*workers*/,
                                       Random random) const override {
    return std::make_unique<BankGenerator>(settings_, random);
  }

 private:
  Settings settings_;
};

}  // namespace

std::span<const OptionSpec> bank_workload_options() { return specs(); }

Result<std::unique_ptr<Workload>> make_bank(const Options& options) {
  const Settings settings{.accounts = options.integer("accounts"),
                          .max_transfer = options.integer("max-transfer"),
                          .read_ratio = options.real("read-ratio")};
  if (settings.read_ratio < 0 || settings.read_ratio > 1) {
    return bad_input("workload bank: read-ratio is {}: expected 0 to 1", settings.read_ratio);
  }
  return std::make_unique<Bank>(settings);
}

}  // namespace ordeal
