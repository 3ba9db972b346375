#include "checkers/bank.h"

#include <catch2/catch.hpp>

#include "tests/checkers/shorthand.h"

namespace ordeal {
namespace {

using Accounts = std::vector<std::pair<std::int64_t, std::int64_t>>;
using Names = std::vector<std::string>;

class Ledger {
 public:
  Ledger& read(const Accounts& accounts) {
    Balances balances;
    add(Phase::invoke, "read", balances);
    balances.accounts.emplace();
    for (const auto& [name, balance] : accounts)
      balances.accounts->emplace_back(Value(name), balance);
    return add(Phase::ok, "read", balances);
  }
  Ledger& transfer(std::int64_t from, std::int64_t to, std::int64_t amount,
                   Phase phase = Phase::ok) {
    const Transfer payload{Value(from), Value(to), amount};
    add(Phase::invoke, "transfer", payload);
    return add(phase, "transfer", payload);
  }
  History build() && { return std::move(builder_).build(); }

 private:
  Ledger& add(Phase phase, const std::string& function, const Payload& payload) {
    builder_.add(
        {index_, std::chrono::milliseconds(index_), ProcessId{0}, phase, function, payload, ""});
    ++index_;
    return *this;
  }
  HistoryBuilder builder_;
  std::uint64_t index_ = 0;
};

CheckResult check_bank_of(Ledger ledger, Options::Given given = {}) {
  return test::check("bank", std::move(ledger).build(), std::move(given));
}

TEST_CASE("a conserved total is valid") {
  const auto result = check_bank_of(Ledger()
                                        .read({{0, 10}, {1, 0}})
                                        .transfer(0, 1, 4)
                                        .transfer(1, 0, 9, Phase::fail)
                                        .read({{0, 6}, {1, 4}}));
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields.at("read-count") == "2");
  CHECK(result.fields.at("error-count") == "0");
  CHECK(result.fields.at("total") == "10");
  CHECK(result.transactions.ok == 3);
  CHECK(result.transactions.fail == 1);
}

TEST_CASE("no completed read is unknown") {
  CHECK(check_bank_of(Ledger()).validity == Validity::unknown);
  CHECK(check_bank_of(Ledger().transfer(0, 1, 4)).validity == Validity::unknown);
}

TEST_CASE("a broken total names the operation and the amounts") {
  const auto result = check_bank_of(
      Ledger().read({{0, 10}, {1, 0}}).read({{0, 6}, {1, 0}}).read({{0, 10}, {1, 7}}));
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"wrong-total"});
  CHECK(result.anomaly_counts.at("wrong-total") == 2);
  REQUIRE(result.anomalies.size() == 2);
  CHECK(result.anomalies[0].operations == std::vector<std::uint64_t>{3});
  CHECK(result.anomalies[0].explanation ==
        "operation 3 read balances {0 6, 1 0}, which add up to 6 instead of 10: 4 vanished");
  CHECK(result.fields.at("first-error") ==
        R"({"difference":-4,"expected":10,"op":3,"total":6,"type":"wrong-total"})");
  CHECK(result.fields.at("worst") ==
        R"({"difference":7,"expected":10,"op":5,"total":17,"type":"wrong-total"})");
}

TEST_CASE("the expected total can be given, and then the first read is judged as well") {
  const Options::Given given = {{"total", {"12", "test"}}};
  CHECK(check_bank_of(Ledger().read({{0, 10}, {1, 2}}), given).validity == Validity::valid);
  CHECK(check_bank_of(Ledger().read({{0, 10}, {1, 0}}), given).validity == Validity::invalid);
}

TEST_CASE("missing and unexpected accounts") {
  const auto missing = check_bank_of(Ledger().read({{0, 10}, {1, 0}}).read({{0, 10}}));
  CHECK(missing.anomaly_types == Names{"nil-balance"});
  CHECK(missing.anomalies.at(0).key == Value(1));
  const auto unexpected = check_bank_of(Ledger().read({{0, 10}}).read({{0, 10}, {7, 0}}));
  CHECK(unexpected.anomaly_types == Names{"unexpected-key"});
  CHECK(unexpected.anomalies.at(0).key == Value(7));
}

TEST_CASE("negative balances are wrong unless allowed") {
  const auto ledger = [] { return Ledger().read({{0, 10}, {1, 0}}).read({{0, 13}, {1, -3}}); };
  CHECK(check_bank_of(ledger()).anomaly_types == Names{"negative-value"});
  CHECK(check_bank_of(ledger(), {{"negative-balances", {"true", "test"}}}).validity ==
        Validity::valid);
}

TEST_CASE("examples are bounded, counts are exact") {
  Ledger ledger;
  ledger.read({{0, 10}});
  for (int at = 0; at < 100; ++at) ledger.read({{0, 9}});
  const auto result = check_bank_of(std::move(ledger));
  CHECK(result.anomaly_counts.at("wrong-total") == 100);
  CHECK(result.anomalies.size() < 10);
}

TEST_CASE("stats: every function should have succeeded") {
  const auto good = test::check(
      "stats",
      std::move(Ledger().read({{0, 1}}).transfer(0, 1, 1).transfer(0, 1, 1, Phase::info)).build());
  CHECK(good.validity == Validity::valid);
  CHECK(good.fields.at("by-f") ==
        R"({"read":{"count":1,"fail-count":0,"info-count":0,"ok-count":1},)"
        R"("transfer":{"count":2,"fail-count":0,"info-count":1,"ok-count":1}})");
  const auto bad = test::check(
      "stats", std::move(Ledger().read({{0, 1}}).transfer(0, 1, 1, Phase::fail)).build());
  CHECK(bad.validity == Validity::unknown);
  CHECK(bad.reason == "never succeeded: transfer");
}

}  // namespace
}  // namespace ordeal
