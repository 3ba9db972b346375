#include "targets/sql/bank_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ordeal::sql {
namespace {

// Below every balance that can come about, yet far from overflow.
constexpr std::int64_t kNoFloor = -4'000'000'000'000'000'000;

const char* const kInsufficient = "insufficient funds";

struct Settings {
  std::int64_t accounts = 0;
  std::int64_t initial_balance = 0;
  bool safe = true;
  bool overdrafts = false;
};

template <class... Values>
std::string filled_in(std::string_view statement, const Values&... values) {
  return fmt::format(fmt::runtime(statement), values...);
}

// The statements of one transaction.
struct Teller {
  const BankStatements& statements;
  const Execute& execute;
  bool overdrafts;

  Note transfer_safely(const Transfer& transfer) const;
  Note transfer_unsafely(const Transfer& transfer) const;
  std::int64_t balance_of(std::int64_t account) const;
  Balances read_all() const;
};

// Changes both accounts, the lower one first: a common order keeps transfers from deadlocking,
// which PostgreSQL resolves only after deadlock_timeout, a second. `change` says what went wrong,
// if anything.
template <class Change>
Note in_order(const Transfer& transfer, const Change& change) {
  const std::int64_t from = transfer.from.integer();
  const std::int64_t to = transfer.to.integer();
  if (auto note = change(std::min(from, to))) return note;
  return change(std::max(from, to));
}

// The condition is part of the UPDATE, so that it is judged on the version that is written.
Note Teller::transfer_safely(const Transfer& transfer) const {
  return in_order(transfer, [&](std::int64_t account) -> Note {
    const bool debit = account == transfer.from.integer();
    const Rows rows =
        execute(filled_in(statements.add, account, debit ? -transfer.amount : transfer.amount,
                          debit && !overdrafts ? 0 : kNoFloor));
    if (rows.affected > 0) return std::nullopt;
    return debit ? kInsufficient : fmt::format("no account {}", account);
  });
}

std::int64_t Teller::balance_of(std::int64_t account) const {
  const Rows rows = execute(filled_in(statements.balance, account));
  if (rows.empty()) throw std::runtime_error(fmt::format("no account {}", account));
  return integer(rows[0][0]);
}

Note Teller::transfer_unsafely(const Transfer& transfer) const {
  const auto from = balance_of(transfer.from.integer()) - transfer.amount;
  const auto to = balance_of(transfer.to.integer()) + transfer.amount;
  if (from < 0 && !overdrafts) return kInsufficient;
  return in_order(transfer, [&](std::int64_t account) -> Note {
    execute(filled_in(statements.write, account, account == transfer.from.integer() ? from : to));
    return std::nullopt;
  });
}

Balances Teller::read_all() const {
  Balances balances{.accounts = {{}}};
  for (const auto& row : execute(std::string(statements.balances)).rows) {
    balances.accounts->emplace_back(Value(integer(row.at(0))), integer(row.at(1)));
  }
  return balances;
}

class BankClient : public Client {
 public:
  BankClient(std::unique_ptr<Connection> connection, const BankStatements& statements,
             const Settings& settings)
      : connection_(std::move(connection)), statements_(statements), settings_(settings) {}

  Status setup(std::stop_token stop) override {
    std::vector<std::string> rows;
    for (std::int64_t account = 0; account < settings_.accounts; ++account) {
      rows.push_back(fmt::format("({}, {})", account, settings_.initial_balance));
    }
    return connection_->execute(
        fmt::format("DROP TABLE IF EXISTS accounts;"
                    "CREATE TABLE accounts (id bigint PRIMARY KEY, balance bigint NOT NULL);"
                    "INSERT INTO accounts VALUES {}",
                    fmt::join(rows, ", ")),
        std::move(stop));
  }

  Outcome invoke(const Payload& payload, std::stop_token stop) override {
    if (const auto* given = std::get_if<Transfer>(&payload))
      return transfer(*given, std::move(stop));
    if (!std::holds_alternative<Balances>(payload))
      return Fail{"bank takes transfers and reads only"};
    Balances read;
    auto trouble = connection_->transact(std::move(stop), [&](const Execute& execute) -> Note {
      read = teller(execute).read_all();
      return std::nullopt;
    });
    return trouble ? std::move(*trouble) : Ok{std::move(read)};
  }

  bool connected() const override { return connection_->connected(); }

 private:
  Outcome transfer(const Transfer& transfer, std::stop_token stop) {
    if (!transfer.from.is_integer() || !transfer.to.is_integer()) {
      return Fail{"accounts are whole numbers"};
    }
    const auto move = settings_.safe ? &Teller::transfer_safely : &Teller::transfer_unsafely;
    auto trouble = connection_->transact(
        std::move(stop), [&](const Execute& execute) { return (teller(execute).*move)(transfer); });
    return trouble ? std::move(*trouble) : Ok{transfer};
  }

  Teller teller(const Execute& execute) const {
    return {statements_, execute, settings_.overdrafts};
  }

  std::unique_ptr<Connection> connection_;
  BankStatements statements_;
  Settings settings_;
};

}  // namespace

std::unique_ptr<Client> bank_client(std::unique_ptr<Connection> connection,
                                    const BankStatements& statements,
                                    const Options& workload_options) {
  return std::make_unique<BankClient>(
      std::move(connection), statements,
      Settings{.accounts = workload_options.integer("accounts"),
               .initial_balance = workload_options.integer("initial-balance"),
               .safe = workload_options.text("client") == "safe",
               .overdrafts = workload_options.boolean("negative-balances")});
}

}  // namespace ordeal::sql
