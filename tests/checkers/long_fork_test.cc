#include <catch2/catch.hpp>

#include "tests/checkers/single_objects.h"

namespace ordeal::test {
namespace {

// Transactions of registers: writes and reads that take a millisecond each.
class Registers {
 public:
  Registers& write(std::int64_t key, std::int64_t value = 1, Phase phase = Phase::ok) {
    return txn(Txn{{MicroOp{MicroFunction::write, Value(key), Value(value), std::nullopt}}}, phase);
  }
  // Key and value in turn; -1 is nil.
  Registers& read(std::vector<std::int64_t> text, Phase phase = Phase::ok) {
    Txn txn_read;
    for (std::size_t at = 0; at < text.size(); at += 2) {
      const Value value = text[at + 1] < 0 ? Value() : Value(text[at + 1]);
      txn_read.micro_ops.push_back({MicroFunction::read, Value(text[at]), value, std::nullopt});
    }
    return txn(txn_read, phase);
  }
  Registers& txn(const Txn& txn, Phase phase = Phase::ok) {
    add(Phase::invoke, txn);
    if (phase != Phase::invoke) add(phase, txn);
    return *this;
  }
  CheckResult check(Options::Given given = {}) {
    return test::check("long-fork", std::move(builder_).build(), std::move(given));
  }

 private:
  void add(Phase phase, const Txn& txn) {
    builder_.add({index_, {}, ProcessId{0}, phase, "txn", txn, ""});
    ++index_;
  }
  HistoryBuilder builder_;
  std::uint64_t index_ = 0;
};

TEST_CASE("long-fork: reads that agree on an order are valid") {
  const auto result = Registers()
                          .write(0)
                          .read({0, -1, 1, -1})
                          .read({0, 1, 1, -1})
                          .read({1, -1, 0, 1})
                          .write(1)
                          .read({0, 1, 1, 1})
                          .check();
  CHECK(result.validity == Validity::valid);
  CHECK(result.fields == Fields{{"reads-count", "4"},
                                {"early-read-count", "1"},
                                {"late-read-count", "1"},
                                {"forks", "[]"}});
}

TEST_CASE("long-fork: two reads that disagree, with the cycle") {
  const auto result = Registers()
                          .write(0, 5)
                          .write(1, 6, Phase::info)
                          .read({0, 5, 1, -1})
                          .read({1, 6, 0, -1})
                          .check();
  CHECK(result.validity == Validity::invalid);
  CHECK(result.anomaly_types == Names{"long-fork"});
  CHECK(result.fields.at("forks") == "[[5,7]]");
  const Anomaly& fork = result.anomalies.at(0);
  CHECK(fork.models_violated == Names{"snapshot-isolation"});
  CHECK(fork.explanation ==
        "operation 5 read key 0 written and key 1 not yet, operation 7 read key 1 written and key "
        "0 not yet: there is no order of the two writes that fits both");
  REQUIRE(fork.steps.size() == 4);
  const std::vector<std::uint64_t> cycle = {1, 5, 2, 7};
  const Names edges = {"wr", "rw", "wr", "rw"};
  for (std::size_t at = 0; at < 4; ++at) {
    CHECK(fork.steps[at].from == cycle[at]);
    CHECK(fork.steps[at].to == cycle[(at + 1) % 4]);
    CHECK(fork.steps[at].edge == edges[at]);
  }
  CHECK(fork.steps[0].value == Value(5));
  CHECK(fork.steps[1].next_value == Value(6));
}

TEST_CASE("long-fork: groups of three, as in Jepsen's own test") {
  const auto result = Registers().read({0, 1, 1, 1, 2, -1}).read({2, 1, 0, 1, 1, -1}).check();
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields.at("early-read-count") == "0");
  CHECK(result.fields.at("late-read-count") == "0");
  CHECK(result.fields.at("reads-count") == "2");
  CHECK(result.fields.at("forks") == "[[1,3]]");
  CHECK(result.anomalies.at(0).steps.empty());  // nobody wrote
}

TEST_CASE("long-fork: found between states of different size and across a third") {
  CHECK(Registers()
            .read({0, 1, 1, 1, 2, -1, 3, -1})
            .read({0, -1, 1, -1, 2, 1, 3, -1})
            .check()
            .validity == Validity::invalid);
  // Smallest and largest fit in; the two between them don't.
  const auto result = Registers()
                          .read({0, 1, 1, 1, 2, 1})
                          .read({0, 1, 1, 1, 2, -1})
                          .read({0, 1, 1, -1, 2, 1})
                          .read({0, 1, 1, -1, 2, -1})
                          .check();
  CHECK(result.validity == Validity::invalid);
  CHECK(result.fields.at("forks") == "[[3,5]]");
}

TEST_CASE("long-fork: groups do not concern each other, nor do reads that are not ok") {
  CHECK(Registers()
            .read({0, 1, 1, -1})
            .read({2, -1, 3, 1})
            .read({0, -1, 1, 1}, Phase::fail)
            .read({0, -1, 1, 1}, Phase::info)
            .check()
            .validity == Validity::valid);
}

TEST_CASE("long-fork: histories of another kind are unknown, forks or not") {
  const auto reason = [](Registers registers) {
    const auto result = registers.read({0, 1, 1, -1}).read({0, -1, 1, 1}).check();
    CHECK(result.validity == Validity::unknown);
    CHECK(result.fields.at("forks") == "[]");
    return result.reason;
  };
  CHECK(reason(Registers().write(3).write(3, 2)) ==
        "operations 0 and 2 both write key 3; expected one write a key");
  CHECK(reason(Registers().read({0, 1, 1, -1, 2, 1})) ==
        "operation 3 reads 2 keys; expected groups of 3");
  CHECK(reason(Registers().read({0, 2, 1, 2})) ==
        "operations 1 and 3 read different values of key 0; expected one write a key");
  const MicroOp list = {MicroFunction::read, Value(0), Value(), std::vector<Value>{}};
  const MicroOp nil = {MicroFunction::read, Value(1), Value(), std::nullopt};
  CHECK(reason(Registers().txn(Txn{{list, nil}})) == "operation 1 reads lists, not registers");
}

TEST_CASE("long-fork: the group's size can be given") {
  CHECK(Registers().read({0, 1, 1, 1}).check({{"group-size", {"2", "test"}}}).validity ==
        Validity::valid);
  CHECK(Registers().read({0, 1, 1, 1}).check({{"group-size", {"3", "test"}}}).validity ==
        Validity::unknown);
}

TEST_CASE("long-fork: unknown without a read") {
  CHECK(Registers().check().validity == Validity::unknown);
  const auto result = Registers().write(0).read({0, 1, 1, 1}, Phase::info).check();
  CHECK(result.validity == Validity::unknown);
  CHECK(result.reason == "no read of a group of keys completed");
}

}  // namespace
}  // namespace ordeal::test
