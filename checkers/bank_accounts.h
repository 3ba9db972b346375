// What a bank read saw: accounts and their balances, and how messages and result fields show them.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "checkers/single_values.h"

namespace ordeal {

struct Account {
  Value name;
  std::optional<std::int64_t> balance;  // nullopt is nil
};
using Accounts = std::vector<Account>;  // in order of name

inline bool name_less(const Account& a, const Account& b) { return value_less(a.name, b.name); }

// Of the event at `at`; nothing where its value is neither nil nor a map of account to balance.
std::optional<Accounts> read_accounts(const History& history, Position at);

// Sums that overflow wrap around, which is the same on both sides of a comparison.
std::int64_t total_of(const Accounts& accounts);

std::string names_text(const Accounts& accounts);     // "account 3", "accounts 3, 4"
std::string balances_text(const Accounts& accounts);  // "{3 10, 4 nil}"
nlohmann::ordered_json names_json(const Accounts& accounts);
nlohmann::ordered_json balances_json(const Accounts& accounts);

}  // namespace ordeal
