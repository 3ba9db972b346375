#include "checkers/bank.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "checkers/outcomes.h"

namespace ordeal {
namespace {

using Account = std::pair<Value, std::int64_t>;
using Accounts = std::vector<Account>;
using Json = nlohmann::json;

constexpr std::size_t kExamplesMax = 4;  // of a type

const Accounts* accounts_of(const History& history, const Event& event) {
  if (event.phase != Phase::ok || event.kind != PayloadKind::balances) return nullptr;
  const auto& accounts = std::get<Balances>(history.payload(event)).accounts;
  return accounts ? &*accounts : nullptr;
}

std::int64_t total_of(const Accounts& accounts) {
  std::uint64_t total = 0;  // sums that overflow wrap around alike on both sides of a comparison
  for (const auto& [name, balance] : accounts) total += static_cast<std::uint64_t>(balance);
  return static_cast<std::int64_t>(total);
}

bool has_account(const Accounts& accounts, Value name) {
  return std::any_of(accounts.begin(), accounts.end(),
                     [&](const Account& account) { return account.first == name; });
}

std::string accounts_text(const Accounts& accounts) {
  std::vector<std::string> texts;
  for (const auto& [name, balance] : accounts)
    texts.push_back(fmt::format("{} {}", name.text(), balance));
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

class BankCheck {
 public:
  BankCheck(const History& history, const Options& options)
      : history_(history), negative_allowed_(options.boolean("negative-balances")) {
    if (!options.text("total").empty()) expected_ = options.integer("total");
  }

  void run(std::stop_token stop) {
    for (Position at = 0; at < history_.size() && !stop.stop_requested(); ++at) {
      const Event& event = history_.event(at);
      if (const Accounts* accounts = accounts_of(history_, event)) check_read(event, *accounts);
    }
  }

  void conclude(CheckResult& result, bool stopped) {
    std::uint64_t errors = 0;
    for (const auto& [type, count] : counts_) {
      result.anomaly_types.push_back(type);
      errors += count;
    }
    result.anomaly_counts = counts_;
    result.anomalies = std::move(examples_);
    result.fields = {{"read-count", Json(reads_).dump()},
                     {"error-count", Json(errors).dump()},
                     {"errors", Json(counts_).dump()}};
    if (expected_) result.fields["total"] = Json(*expected_).dump();
    if (!first_error_.is_null()) result.fields["first-error"] = first_error_.dump();
    if (!worst_.is_null()) result.fields["worst"] = worst_.dump();
    decide(result, errors, stopped);
  }

 private:
  void check_read(const Event& event, const Accounts& accounts) {
    ++reads_;
    if (first_ == nullptr) first_ = &accounts;
    const std::int64_t total = total_of(accounts);
    if (!expected_) expected_ = total;
    check_accounts(event, accounts);
    if (total != *expected_) wrong_total(event, accounts, total);
    for (const auto& [name, balance] : accounts) {
      if (balance >= 0 || negative_allowed_) continue;
      error("negative-value", event, name,
            fmt::format("operation {} read a balance of {} in account {}", event.index, balance,
                        name.text()),
            {{"account", name.text()}, {"balance", balance}});
    }
  }

  void check_accounts(const Event& event, const Accounts& accounts) {
    if (first_ == &accounts ||
        std::equal(accounts.begin(), accounts.end(), first_->begin(), first_->end(),
                   [](auto& a, auto& b) { return a.first == b.first; })) {
      return;
    }
    for (const auto& [name, balance] : *first_) {
      if (has_account(accounts, name)) continue;
      error("nil-balance", event, name,
            fmt::format("operation {} read no balance of account {}, which the first read had",
                        event.index, name.text()),
            {{"account", name.text()}});
    }
    for (const auto& [name, balance] : accounts) {
      if (has_account(*first_, name)) continue;
      error("unexpected-key", event, name,
            fmt::format("operation {} read account {} with {}, which the first read did not have",
                        event.index, name.text(), balance),
            {{"account", name.text()}, {"balance", balance}});
    }
  }

  void wrong_total(const Event& event, const Accounts& accounts, std::int64_t total) {
    const std::int64_t difference = total - *expected_;
    const Json details = {{"total", total}, {"expected", *expected_}, {"difference", difference}};
    error("wrong-total", event, std::nullopt,
          fmt::format("operation {} read balances {}, which add up to {} instead of {}: {} {}",
                      event.index, accounts_text(accounts), total, *expected_,
                      difference > 0 ? difference : -difference,
                      difference > 0 ? "came from nowhere" : "vanished"),
          details);
    if (!worst_.is_null() &&
        std::abs(worst_["difference"].get<std::int64_t>()) >= std::abs(difference))
      return;
    worst_ = details;
    worst_["type"] = "wrong-total";
    worst_["op"] = event.index;
  }

  void error(const std::string& type, const Event& event, std::optional<Value> key,
             std::string text, const Json& details) {
    const std::uint64_t count = ++counts_[type];
    if (first_error_.is_null()) {
      first_error_ = details;
      first_error_["type"] = type;
      first_error_["op"] = event.index;
    }
    if (count > kExamplesMax) return;
    Anomaly anomaly;
    anomaly.type = type;
    anomaly.explanation = std::move(text);
    anomaly.operations = {event.index};
    anomaly.key = key;
    examples_.push_back(std::move(anomaly));
  }

  void decide(CheckResult& result, std::uint64_t errors, bool stopped) const {
    if (errors > 0) {
      result.validity = Validity::invalid;
      result.reason =
          fmt::format("{} {} in {} reads; first: {}", errors, errors == 1 ? "error" : "errors",
                      reads_, result.anomalies.front().explanation);
    } else if (stopped) {
      result.reason = "stopped on request before the analysis was complete";
    } else if (reads_ == 0) {
      result.reason = "no read of all balances completed, so there was nothing to judge";
    } else {
      result.validity = Validity::valid;
      result.reason = fmt::format("every one of {} reads adds up to {}", reads_, *expected_);
    }
  }

  const History& history_;
  bool negative_allowed_;
  std::optional<std::int64_t> expected_;
  const Accounts* first_ = nullptr;
  std::uint64_t reads_ = 0;
  std::map<std::string, std::uint64_t> counts_;
  std::vector<Anomaly> examples_;
  Json first_error_;
  Json worst_;
};

}  // namespace

std::span<const OptionSpec> bank_options() {
  static constexpr std::array kOptions = {
      OptionSpec{"total", OptionType::integer, "",
                 "sum of all balances; that of the first read where not given",
                 -1'000'000'000'000'000'000, 1'000'000'000'000'000'000},
      OptionSpec{"negative-balances", OptionType::boolean, "false",
                 "whether a balance may be below zero"},
  };
  return kOptions;
}

CheckResult check_bank(const History& history, const Options& options, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  CheckResult result;
  result.checker = "bank";
  result.operations = history.size();
  result.transactions = count_outcomes(history);
  BankCheck check(history, options);
  check.run(stop);
  check.conclude(result, stop.stop_requested());
  result.check_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace ordeal
