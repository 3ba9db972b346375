#include "workloads/register.h"

#include <set>

#include "tests/workloads/workload_fixture.h"

namespace ordeal {
namespace {

std::vector<Txn> draw_txns(const Given& settings, std::size_t worker, std::size_t workers,
                           std::size_t count) {
  std::vector<Txn> txns;
  for (auto& payload : draw(*make_generator("register", settings, worker, workers), count)) {
    txns.push_back(std::get<Txn>(std::move(payload)));
  }
  return txns;
}

TEST_CASE("register: written values are unique per key, over all workers, and not too many") {
  constexpr std::size_t kWorkers = 5;
  std::map<std::int64_t, std::set<std::int64_t>> values;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    for (const Txn& txn : draw_txns({{"max-writes-per-key", "16"}}, worker, kWorkers, 2000)) {
      for (const MicroOp& op : txn.micro_ops) {
        if (op.function == MicroFunction::read) continue;
        REQUIRE(op.function == MicroFunction::write);
        const bool is_new = values[op.key.integer()].insert(op.value.integer()).second;
        REQUIRE(is_new);
      }
    }
  }
  std::size_t most = 0;
  for (const auto& [key, written] : values) most = std::max(most, written.size());
  CHECK(most <= 16);
  CHECK(most > 8);
}

// Writes whose key the micro-operation before them reads, among all writes.
double cas_share(const std::string& ratio) {
  int writes = 0;
  int compared = 0;
  for (const Txn& txn :
       draw_txns({{"cas-ratio", ratio}, {"max-transaction-length", "1"}}, 0, 1, 2000)) {
    if (txn.micro_ops.back().function != MicroFunction::write) continue;
    ++writes;
    if (txn.micro_ops.size() == 2) {
      CHECK(txn.micro_ops[0].function == MicroFunction::read);
      CHECK(txn.micro_ops[0].key == txn.micro_ops[1].key);
      ++compared;
    }
  }
  return static_cast<double>(compared) / writes;
}

TEST_CASE("register: compare-and-sets read the key that they write, as often as set") {
  CHECK(cas_share("0") == 0);
  CHECK(cas_share("1") == 1);
  CHECK(cas_share("0.3") == Approx(0.3).margin(0.06));
}

TEST_CASE("register: one seed gives one sequence, and workers differ") {
  CHECK(draw_txns({}, 1, 3, 500) == draw_txns({}, 1, 3, 500));
  CHECK(draw_txns({}, 1, 3, 500) != draw_txns({}, 2, 3, 500));
}

TEST_CASE("register: the final phase reads the last window, then ends") {
  auto generator = make_generator("register", {}, 0, 1);
  std::set<std::int64_t> touched;
  for (const auto& payload : draw(*generator, 20)) {
    for (const auto& op : std::get<Txn>(payload).micro_ops) touched.insert(op.key.integer());
  }
  std::set<std::int64_t> read;
  for (const auto& payload : draw_final(*generator)) {
    for (const auto& op : std::get<Txn>(payload).micro_ops) {
      CHECK(op.function == MicroFunction::read);
      read.insert(op.key.integer());
    }
  }
  CHECK(std::includes(read.begin(), read.end(), touched.begin(), touched.end()));
  CHECK_FALSE(generator->next_final());
}

TEST_CASE("register: settings that make no sense are refused") {
  for (const auto& [name, value] :
       Given{{"cas-ratio", "1.1"}, {"read-ratio", "-1"}, {"min-transaction-length", "9"}}) {
    const auto made = try_workload("register", {{name, value}});
    REQUIRE_FALSE(made);
    CHECK(made.error().message.find(name) != std::string::npos);
  }
}

}  // namespace
}  // namespace ordeal
