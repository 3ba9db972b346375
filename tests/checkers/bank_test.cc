#include "checkers/bank.h"

#include <catch2/catch.hpp>

#include "tests/checkers/single_objects.h"

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
        R"({"total":6,"expected":10,"difference":-4,"type":"wrong-total","op":3})");
  const std::string first = result.fields.at("first-error");
  const std::string second =
      R"({"total":17,"expected":10,"difference":7,"type":"wrong-total","op":5})";
  CHECK(result.fields.at("errors") ==
        fmt::format(R"({{"wrong-total":{{"count":2,"first":{0},"worst":{1},"last":{1},)"
                    R"("lowest":{0},"highest":{1}}}}})",
                    first, second));
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

CheckResult check_bank_of(test::Events events, Options::Given given = {}) {
  return events.check("bank", std::move(given));
}

TEST_CASE("a balance that is nil, as Jepsen's histories may have it") {
  const auto result =
      check_bank_of(test::Events().get("read", "{0 10, 1 0}").get("read", "{0 10, 1 nil}"));
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields.at("first-error") == R"({"nils":{"1":null},"type":"nil-balance","op":3})");
  CHECK(result.anomalies.at(0).explanation == "operation 3 read no balance of account 1");
  const auto nothing = check_bank_of(test::Events().get("read", "{0 10}").get("read", "nil"));
  CHECK(nothing.anomaly_types == Names{"nil-balance"});
}

TEST_CASE("a read of something else than balances makes it unknown") {
  const auto result = check_bank_of(test::Events().get("read", "{0 10}").get("read", "{0 :lots}"));
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason == "operation 3 read something that is no map of account to balance");
  CHECK(result.fields.at("read-count") == "1");
}

TEST_CASE("accounts that transfers name are expected, and may be missing where that is allowed") {
  const auto result = check_bank_of(
      Ledger().read({{0, 10}}).transfer(0, 1, 4).read({{0, 6}, {1, 4}}).read({{1, 10}}),
      {{"missing-accounts", {"true", "test"}}});
  CHECK(result.validity == Validity::valid);
}

TEST_CASE("a read has one error, the first that Jepsen looks for") {
  const auto result = check_bank_of(Ledger().read({{0, 10}, {1, 0}}).read({{0, -3}, {7, 1}}));
  CHECK(result.fields.at("error-count") == "1");
  CHECK(result.anomaly_types == Names{"unexpected-key"});
  CHECK(result.anomalies.at(0).explanation ==
        "operation 3 read account 7, which neither the first read nor a transfer has");
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
        R"({"read":{"valid":true,"count":1,"ok-count":1,"fail-count":0,"info-count":0},)"
        R"("transfer":{"valid":true,"count":2,"ok-count":1,"fail-count":0,"info-count":1}})");
  CHECK(good.fields.at("count") == "3");
  CHECK(good.fields.at("ok-count") == "2");
  CHECK(good.fields.at("fail-count") == "0");
  CHECK(good.fields.at("info-count") == "1");
  const auto bad = test::check(
      "stats", std::move(Ledger().read({{0, 1}}).transfer(0, 1, 1, Phase::fail)).build());
  CHECK(bad.validity == Validity::unknown);
  CHECK(bad.reason == "never succeeded: transfer");
}

}  // namespace
}  // namespace ordeal
