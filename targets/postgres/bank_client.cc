#include "targets/postgres/bank_client.h"

#include <algorithm>
#include <pqxx/result>
#include <stdexcept>
#include <utility>

namespace ordeal::postgres {
namespace {

constexpr const char* kPrepare =
    "PREPARE balances AS SELECT id, balance FROM accounts ORDER BY id;"
    "PREPARE balance(bigint) AS SELECT balance FROM accounts WHERE id = $1;"
    "PREPARE write(bigint, bigint) AS UPDATE accounts SET balance = $2 WHERE id = $1;"
    "PREPARE add(bigint, bigint, bigint) AS UPDATE accounts SET balance = balance + $2 "
    "WHERE id = $1 AND balance + $2 >= $3";

// Below every balance that can come about, yet far from overflow.
constexpr std::int64_t kNoFloor = -4'000'000'000'000'000'000;

using Note = std::optional<std::string>;
using Execute = Connection::Execute;

const char* const kInsufficient = "insufficient funds";

struct Settings {
  std::int64_t accounts = 0;
  std::int64_t initial_balance = 0;
  bool safe = true;
  bool overdrafts = false;
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
Note transfer_safely(const Transfer& transfer, bool overdrafts, const Execute& execute) {
  return in_order(transfer, [&](std::int64_t account) -> Note {
    const bool debit = account == transfer.from.integer();
    const auto rows = execute(fmt::format("EXECUTE add({}, {}, {})", account,
                                          debit ? -transfer.amount : transfer.amount,
                                          debit && !overdrafts ? 0 : kNoFloor));
    if (rows.affected_rows() > 0) return std::nullopt;
    return debit ? kInsufficient : fmt::format("no account {}", account);
  });
}

std::int64_t balance_of(std::int64_t account, const Execute& execute) {
  const auto rows = execute(fmt::format("EXECUTE balance({})", account));
  if (rows.empty()) throw std::runtime_error(fmt::format("no account {}", account));
  return rows[0][0].as<std::int64_t>();
}

Note transfer_unsafely(const Transfer& transfer, bool overdrafts, const Execute& execute) {
  const auto from = balance_of(transfer.from.integer(), execute) - transfer.amount;
  const auto to = balance_of(transfer.to.integer(), execute) + transfer.amount;
  if (from < 0 && !overdrafts) return kInsufficient;
  return in_order(transfer, [&](std::int64_t account) -> Note {
    execute(fmt::format("EXECUTE write({}, {})", account,
                        account == transfer.from.integer() ? from : to));
    return std::nullopt;
  });
}

Balances read_all(const Execute& execute) {
  Balances balances{.accounts = {{}}};
  for (const auto& row : execute("EXECUTE balances")) {
    balances.accounts->emplace_back(Value(row[0].as<std::int64_t>()), row[1].as<std::int64_t>());
  }
  return balances;
}

class BankClient : public Client {
 public:
  BankClient(std::unique_ptr<Connection> connection, const Settings& settings)
      : connection_(std::move(connection)), settings_(settings) {}

  Status setup(std::stop_token stop) override {
    return connection_->execute(
        fmt::format("DROP TABLE IF EXISTS accounts;"
                    "CREATE TABLE accounts (id bigint PRIMARY KEY, balance bigint NOT NULL);"
                    "INSERT INTO accounts SELECT id, {} FROM generate_series(0, {}) AS id",
                    settings_.initial_balance, settings_.accounts - 1),
        std::move(stop));
  }

  Outcome invoke(const Payload& payload, std::stop_token stop) override {
    if (const auto* given = std::get_if<Transfer>(&payload))
      return transfer(*given, std::move(stop));
    if (!std::holds_alternative<Balances>(payload))
      return Fail{"bank takes transfers and reads only"};
    Balances read;
    auto trouble = connection_->transact(std::move(stop), [&](const Execute& execute) -> Note {
      read = read_all(execute);
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
    const auto move = settings_.safe ? transfer_safely : transfer_unsafely;
    auto trouble = connection_->transact(std::move(stop), [&](const Execute& execute) {
      return move(transfer, settings_.overdrafts, execute);
    });
    return trouble ? std::move(*trouble) : Ok{transfer};
  }

  std::unique_ptr<Connection> connection_;
  Settings settings_;
};

}  // namespace

Result<std::unique_ptr<Client>> connect_bank(const Endpoint& endpoint,
                                             const Options& workload_options,
                                             std::stop_token stop) {
  const Settings settings{.accounts = workload_options.integer("accounts"),
                          .initial_balance = workload_options.integer("initial-balance"),
                          .safe = workload_options.text("client") == "safe",
                          .overdrafts = workload_options.boolean("negative-balances")};
  ORDEAL_TRY_ASSIGN(auto connection, Connection::open(endpoint, workload_options.text("isolation"),
                                                      kPrepare, std::move(stop)));
  return std::make_unique<BankClient>(std::move(connection), settings);
}

}  // namespace ordeal::postgres
