#include "checkers/bank_accounts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ordeal {

using Json = nlohmann::ordered_json;

std::optional<Accounts> read_accounts(const History& history, Position at) {
  Accounts accounts;
  const Event& event = history.event(at);
  if (event.kind == PayloadKind::balances) {
    const auto& balances = std::get<Balances>(history.payload(event)).accounts;
    if (!balances) return accounts;
    for (const auto& [name, balance] : *balances) accounts.push_back({name, balance});
    return accounts;
  }
  std::vector<Value> entries;
  if (!ValueReader(history).entries(at, entries)) return std::nullopt;
  for (std::size_t entry = 0; entry < entries.size(); entry += 2) {
    const Value balance = entries[entry + 1];
    if (!balance.is_nil() && !balance.is_integer()) return std::nullopt;
    accounts.push_back({entries[entry], std::nullopt});
    if (balance.is_integer()) accounts.back().balance = balance.integer();
  }
  std::sort(accounts.begin(), accounts.end(), name_less);
  return accounts;
}

std::int64_t total_of(const Accounts& accounts) {
  std::uint64_t total = 0;
  for (const Account& account : accounts) {
    total += static_cast<std::uint64_t>(account.balance.value_or(0));
  }
  return static_cast<std::int64_t>(total);
}

std::string names_text(const Accounts& accounts) {
  std::vector<std::string> names;
  for (const Account& account : accounts) names.push_back(account.name.text());
  return fmt::format("{} {}", names.size() == 1 ? "account" : "accounts", fmt::join(names, ", "));
}

std::string balances_text(const Accounts& accounts) {
  std::vector<std::string> texts;
  for (const auto& [name, balance] : accounts) {
    texts.push_back(fmt::format("{} {}", name.text(), balance ? std::to_string(*balance) : "nil"));
  }
  return fmt::format("{{{}}}", fmt::join(texts, ", "));
}

Json names_json(const Accounts& accounts) {
  Json names = Json::array();
  for (const Account& account : accounts) names.push_back(json_of(account.name));
  return names;
}

Json balances_json(const Accounts& accounts) {
  Json object = Json::object();
  for (const auto& [name, balance] : accounts) {
    object[name.text()] = balance ? Json(*balance) : Json(nullptr);
  }
  return object;
}

}  // namespace ordeal
