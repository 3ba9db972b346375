// The clients of list-append and bank against real servers of each SQL system.
#include <catch2/catch.hpp>
#include <thread>
#include <tuple>

#include "tests/targets/mariadb_server.h"
#include "tests/targets/postgres_server.h"

namespace ordeal {
namespace {

const std::string kPostgres = "postgres";
const std::string kMariaDb = "mariadb";

// Serving clients of the workload.
std::unique_ptr<ServerFixture> make_server(const std::string& system, std::string workload,
                                           ServerSettings workload_settings = {}) {
  std::unique_ptr<ServerFixture> server;
  if (system == kPostgres) {
    server = std::make_unique<PostgresServer>(ServerSettings{}, std::move(workload),
                                              std::move(workload_settings));
  } else {
    server = std::make_unique<MariaDbServer>(ServerSettings{}, std::move(workload),
                                             std::move(workload_settings));
  }
  server->up();
  return server;
}

MicroOp append(std::int64_t key, std::int64_t element) {
  return {MicroFunction::append, Value(key), Value(element), {}};
}
MicroOp read(std::int64_t key) { return {MicroFunction::read, Value(key), {}, {}}; }
MicroOp read(std::int64_t key, const std::vector<std::int64_t>& elements) {
  MicroOp micro_op = read(key);
  micro_op.list.emplace();
  for (const auto element : elements) micro_op.list->emplace_back(element);
  return micro_op;
}

Payload ok_payload(const Outcome& outcome) {
  if (const auto* fail = std::get_if<Fail>(&outcome)) FAIL(fail->note);
  if (const auto* info = std::get_if<Info>(&outcome)) FAIL(info->note);
  return std::get<Ok>(outcome).payload;
}

std::int64_t total(const Payload& payload) {
  std::int64_t sum = 0;
  for (const auto& [account, balance] : std::get<Balances>(payload).accounts.value())
    sum += balance;
  return sum;
}

TEST_CASE("list-append client: appends, reads, reads its own writes") {
  const auto server = make_server(GENERATE(kPostgres, kMariaDb), "list-append");
  auto client = server->client();
  REQUIRE(client->setup({}));
  CHECK(ok_payload(client->invoke(Txn{{read(1), append(1, 5), read(1)}}, {})) ==
        Payload(Txn{{read(1, {}), append(1, 5), read(1, {5})}}));
  CHECK(ok_payload(client->invoke(Txn{{append(1, 6), append(2, -7), append(1, 8)}}, {})) ==
        Payload(Txn{{append(1, 6), append(2, -7), append(1, 8)}}));
  auto other = server->client();
  CHECK(ok_payload(other->invoke(Txn{{read(1), read(2)}}, {})) ==
        Payload(Txn{{read(1, {5, 6, 8}), read(2, {-7})}}));
  CHECK(ok_payload(other->invoke(Txn{}, {})) == Payload(Txn{}));
  CHECK(std::holds_alternative<Fail>(other->invoke(
      Txn{{append(1, 1), {MicroFunction::read, Value::symbol("\"x'\""), {}, {}}}}, {})));
  CHECK(std::holds_alternative<Fail>(other->invoke(Balances{}, {})));
  CHECK(other->connected());
}

TEST_CASE("list-append client: before the table exists operations fail, then they work") {
  const auto server = make_server(GENERATE(kPostgres, kMariaDb), "list-append");
  auto early = server->client();
  CHECK(std::holds_alternative<Fail>(early->invoke(Txn{{read(1)}}, {})));
  REQUIRE(server->client()->setup({}));
  CHECK(ok_payload(early->invoke(Txn{{append(1, 1), read(1)}}, {})) ==
        Payload(Txn{{append(1, 1), read(1, {1})}}));
}

TEST_CASE("list-append client: the isolation level is the workload's") {
  const auto [level, expected] = GENERATE(table<std::string, bool>(
      {{"serializable", false}, {"repeatable-read", true}, {"read-committed", true}}));
  const auto server =
      make_server(GENERATE(kPostgres, kMariaDb), "list-append", {{"isolation", level}});
  auto client = server->client();
  REQUIRE(client->setup({}));
  // Write skew on two keys, tried until it is refused or seen to be allowed.
  std::atomic<int> committed = 0;
  for (int round = 0; round < 40 && committed < 2; ++round) {
    committed = 0;
    const std::int64_t x = 2 * round;
    std::vector<std::jthread> threads;
    for (const auto& [from, to] : {std::pair{x, x + 1}, std::pair{x + 1, x}}) {
      threads.emplace_back([&server, &committed, from = from, to = to] {
        Txn txn{{read(from)}};
        for (int i = 0; i < 30; ++i) txn.micro_ops.push_back(read(from));
        txn.micro_ops.push_back(append(to, 1));
        const auto outcome = server->client()->invoke(txn, {});
        const auto* ok = std::get_if<Ok>(&outcome);
        if (ok == nullptr) return;
        const auto& first = std::get<Txn>(ok->payload).micro_ops.front();
        if (first.list->empty()) ++committed;
      });
    }
  }
  CHECK((committed == 2) == expected);
}

TEST_CASE("bank client: transfers move money, and only money that is there") {
  const auto server = make_server(GENERATE(kPostgres, kMariaDb), "bank", {{"accounts", "3"}});
  auto client = server->client();
  REQUIRE(client->setup({}));
  const Transfer transfer{Value(0), Value(2), 4};
  CHECK(ok_payload(client->invoke(transfer, {})) == Payload(transfer));
  using Pair = std::pair<Value, std::int64_t>;
  const Balances expected{{{Pair{Value(0), 6}, Pair{Value(1), 10}, Pair{Value(2), 14}}}};
  CHECK(ok_payload(client->invoke(Balances{}, {})) == Payload(expected));
  const auto refused = client->invoke(Transfer{Value(0), Value(1), 7}, {});
  REQUIRE(std::holds_alternative<Fail>(refused));
  CHECK(std::get<Fail>(refused).note == "insufficient funds");
  CHECK(ok_payload(client->invoke(Balances{}, {})) == Payload(expected));
  CHECK(std::holds_alternative<Fail>(client->invoke(Transfer{Value(0), Value(9), 1}, {})));
  CHECK(ok_payload(client->invoke(Balances{}, {})) == Payload(expected));
}

TEST_CASE("bank client: overdrafts where they are allowed") {
  const std::string kind = GENERATE("safe", "unsafe");
  const auto server =
      make_server(GENERATE(kPostgres, kMariaDb), "bank",
                  {{"accounts", "2"}, {"negative-balances", "true"}, {"client", kind}});
  auto client = server->client();
  REQUIRE(client->setup({}));
  ok_payload(client->invoke(Transfer{Value(0), Value(1), 25}, {}));
  const auto read = ok_payload(client->invoke(Balances{}, {}));
  CHECK(std::get<Balances>(read).accounts.value()[0].second == -15);
  CHECK(total(read) == 20);
}

// Transfers from many threads; returns the totals that reads saw.
std::int64_t total_after_stress(const std::string& system, const std::string& kind,
                                const std::string& isolation) {
  const auto server = make_server(system, "bank", {{"client", kind}, {"isolation", isolation}});
  REQUIRE(server->client()->setup({}));
  {
    std::vector<std::jthread> threads;
    for (std::int64_t worker = 0; worker < 4; ++worker) {
      threads.emplace_back([&server, worker] {
        auto client = server->client();
        for (std::int64_t i = 0; i < 300; ++i) {
          const std::int64_t from = (i + worker) % 8;
          std::ignore = client->invoke(Transfer{Value(from), Value((from + 1 + i % 7) % 8), 1}, {});
        }
      });
    }
  }
  return total(ok_payload(server->client()->invoke(Balances{}, {})));
}

TEST_CASE("bank client: safe conserves the total, unsafe breaks it where updates may be lost") {
  for (const auto& system : {kPostgres, kMariaDb}) {
    INFO(system);
    CHECK(total_after_stress(system, "safe", "read-committed") == 80);
    CHECK(total_after_stress(system, "safe", "serializable") == 80);
    CHECK(total_after_stress(system, "unsafe", "serializable") == 80);
    CHECK(total_after_stress(system, "unsafe", "read-committed") != 80);
  }
  CHECK(total_after_stress(kPostgres, "unsafe", "repeatable-read") == 80);
  CHECK(total_after_stress(kMariaDb, "unsafe", "repeatable-read") != 80);
}

}  // namespace
}  // namespace ordeal
