#include "checkers/bank.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "checkers/bank_accounts.h"
#include "checkers/bank_errors.h"
#include "checkers/findings.h"

namespace ordeal {
namespace {

using Json = BankErrors::Json;

class BankCheck {
 public:
  BankCheck(const History& history, const Options& options)
      : history_(history),
        negative_allowed_(options.boolean("negative-balances")),
        missing_allowed_(options.boolean("missing-accounts")) {
    if (!options.text("total").empty()) expected_ = options.integer("total");
  }

  bool run(const std::stop_token& stop) {
    const bool finished =
        for_each_client_event(history_, stop, [&](Position at, const Event& event) {
          if (event.kind == PayloadKind::transfer) add_accounts(event);
          if (is_read(event) && first_.empty()) {
            first_ = read_accounts(history_, at).value_or(Accounts());
          }
        });
    for (const Account& account : first_) known_.insert(account.name);
    if (!expected_) expected_ = total_of(first_);
    return finished && for_each_client_event(history_, stop, [&](Position at, const Event& event) {
             if (is_read(event)) check_read(at);
           });
  }

  void conclude(CheckResult& result) && {
    result.fields["read-count"] = std::to_string(reads_);
    result.fields["total"] = std::to_string(*expected_);
    errors_.add_fields(result.fields);
    if (unknown_.empty() && first_.empty()) {
      unknown_ = "no read of all balances completed, so there was nothing to judge";
    }
    std::move(findings_).conclude(
        result, {}, unknown_,
        fmt::format("every one of {} reads adds up to {}", reads_, *expected_));
  }

 private:
  bool is_read(const Event& event) const {
    return event.phase == Phase::ok && history_.function(event) == "read";
  }

  void add_accounts(const Event& event) {
    const auto& transfer = std::get<Transfer>(history_.payload(event));
    known_.insert(transfer.from);
    known_.insert(transfer.to);
  }

  void check_read(Position at) {
    const Event& event = history_.event(at);
    const std::optional<Accounts> accounts = read_accounts(history_, at);
    if (!accounts) {
      unknown_ = fmt::format("operation {} read something that is no map of account to balance",
                             event.index);
      return;
    }
    ++reads_;
    if (!check_names(event, *accounts) && !check_total(event, *accounts)) {
      check_signs(event, *accounts);
    }
  }

  // These return whether they found something.
  bool check_names(const Event& event, const Accounts& accounts) {
    Accounts unexpected, nil;
    for (const Account& account : accounts) {
      if (!known_.contains(account.name)) unexpected.push_back(account);
      if (!account.balance) nil.push_back(account);
    }
    if (!unexpected.empty()) {
      error("unexpected-key", event, unexpected, {{"unexpected", names_json(unexpected)}},
            fmt::format("operation {} read {}, which neither the first read nor a transfer has",
                        event.index, names_text(unexpected)));
      return true;
    }
    if (!missing_allowed_) add_missing(accounts, nil);
    if (nil.empty()) return false;
    error("nil-balance", event, nil, {{"nils", balances_json(nil)}},
          fmt::format("operation {} read no balance of {}", event.index, names_text(nil)));
    return true;
  }

  void add_missing(const Accounts& accounts, Accounts& nil) const {
    std::set_difference(first_.begin(), first_.end(), accounts.begin(), accounts.end(),
                        std::back_inserter(nil), name_less);
    for (Account& account : nil) account.balance.reset();
  }

  bool check_total(const Event& event, const Accounts& accounts) {
    const std::int64_t total = total_of(accounts);
    if (total == *expected_) return false;
    const auto difference = static_cast<std::int64_t>(static_cast<std::uint64_t>(total) -
                                                      static_cast<std::uint64_t>(*expected_));
    error("wrong-total", event, {},
          {{"total", total}, {"expected", *expected_}, {"difference", difference}},
          fmt::format("operation {} read balances {}, which add up to {} instead of {}: {} {}",
                      event.index, balances_text(accounts), total, *expected_,
                      difference > 0 ? difference : -difference,
                      difference > 0 ? "came from nowhere" : "vanished"),
          std::abs(static_cast<double>(difference)));
    return true;
  }

  void check_signs(const Event& event, const Accounts& accounts) {
    Accounts negative;
    double sum = 0;
    Json balances = Json::array();
    for (const Account& account : accounts) {
      if (negative_allowed_ || *account.balance >= 0) continue;
      negative.push_back(account);
      balances.push_back(*account.balance);
      sum += static_cast<double>(*account.balance);
    }
    if (negative.empty()) return;
    error("negative-value", event, negative, {{"negative", balances}},
          fmt::format("operation {} read balances below zero: {}", event.index,
                      balances_text(negative)),
          -sum);
  }

  // Without `badness`, that is the number of accounts.
  void error(const std::string& type, const Event& event, const Accounts& accounts, Json details,
             const std::string& explanation, std::optional<double> badness = std::nullopt) {
    details["type"] = type;
    details["op"] = event.index;
    errors_.add(details, badness.value_or(static_cast<double>(accounts.size())));
    findings_.add(type, [&](Anomaly& anomaly) {
      anomaly.explanation = explanation;
      anomaly.operations = {event.index};
      if (!accounts.empty()) anomaly.key = accounts.front().name;
    });
  }

  const History& history_;
  bool negative_allowed_;
  bool missing_allowed_;
  std::optional<std::int64_t> expected_;
  Accounts first_;  // of the first read that has any
  std::unordered_set<Value> known_;
  std::uint64_t reads_ = 0;
  std::string unknown_;
  BankErrors errors_;
  Findings findings_;
};

}  // namespace

std::span<const OptionSpec> bank_options() {
  static constexpr std::array kOptions = {
      OptionSpec{"total", OptionType::integer, "",
                 "sum of all balances; that of the first read where not given",
                 -1'000'000'000'000'000'000, 1'000'000'000'000'000'000},
      OptionSpec{"negative-balances", OptionType::boolean, "false",
                 "whether a balance may be below zero"},
      OptionSpec{"missing-accounts", OptionType::boolean, "false",
                 "whether a read may lack accounts, as where empty ones are deleted"},
  };
  return kOptions;
}

CheckResult check_bank(const History& history, const Options& options, std::stop_token stop) {
  return check_in_one_pass("bank", history, BankCheck(history, options), stop);
}

}  // namespace ordeal
