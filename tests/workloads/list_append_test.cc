#include "workloads/list_append.h"

#include <set>

#include "tests/workloads/workload_fixture.h"
#include "workloads/key_window.h"

namespace ordeal {
namespace {

using Window = std::set<std::int64_t>;

// Keys that the last `count` of `payloads` touch.
Window keys_of_last(const std::vector<Payload>& payloads, std::size_t count) {
  Window keys;
  for (std::size_t i = payloads.size() - count; i < payloads.size(); ++i) {
    for (const auto& micro_op : std::get<Txn>(payloads[i]).micro_ops) {
      keys.insert(micro_op.key.integer());
    }
  }
  return keys;
}

void check_writes(const Given& settings, std::size_t workers, std::int64_t max_writes) {
  std::map<std::int64_t, std::set<std::int64_t>> elements;
  std::int64_t appends = 0;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    auto generator = make_generator("list-append", settings, worker, workers);
    for (const auto& payload : draw(*generator, 3000)) {
      for (const auto& micro_op : std::get<Txn>(payload).micro_ops) {
        if (micro_op.function != MicroFunction::append) continue;
        ++appends;
        const bool is_new =
            elements[micro_op.key.integer()].insert(micro_op.value.integer()).second;
        REQUIRE(is_new);
      }
    }
  }
  std::size_t most = 0;
  for (const auto& [key, values] : elements) most = std::max(most, values.size());
  CHECK(static_cast<std::int64_t>(most) <= max_writes);
  CHECK(static_cast<std::int64_t>(most) > max_writes / 2);
  // Quotas turn few appends into reads: 2.5 micro-operations, half of them appends.
  CHECK(static_cast<double>(appends) > 0.9 * 3000 * 1.25 * static_cast<double>(workers));
}

TEST_CASE("list-append: elements are unique and no key gets too many, over all workers") {
  check_writes({}, 1, 64);
  check_writes({}, 5, 64);
  check_writes({{"max-writes-per-key", "16"}}, 3, 16);
  check_writes({{"max-writes-per-key", "200"}, {"keys", "4"}}, 10, 200);
}

TEST_CASE("list-append: more workers than writes leaves some of them without quota") {
  std::int64_t sum = 0;
  for (std::size_t worker = 0; worker < 7; ++worker) sum += write_quota(3, 5, worker, 7);
  CHECK(sum == 3);
  for (std::int64_t key = 0; key < 50; ++key) {
    std::int64_t of_key = 0;
    for (std::size_t worker = 0; worker < 6; ++worker) of_key += write_quota(64, key, worker, 6);
    CHECK(of_key == 64);
  }
}

TEST_CASE("list-append: one seed gives one sequence, and workers differ") {
  const auto sequence = [](std::size_t worker, std::uint64_t seed) {
    return draw(*make_generator("list-append", {}, worker, 3, seed), 2000);
  };
  CHECK(sequence(1, 7) == sequence(1, 7));
  CHECK(sequence(1, 7) != sequence(2, 7));
  CHECK(sequence(1, 7) != sequence(1, 8));
}

TEST_CASE("list-append: workers contend for the same keys, also late in a long run") {
  constexpr std::size_t kWorkers = 4;
  std::vector<Window> windows;
  for (std::size_t worker = 0; worker < kWorkers; ++worker) {
    windows.push_back(
        keys_of_last(draw(*make_generator("list-append", {}, worker, kWorkers), 50'000), 20));
  }
  for (const auto& window : windows) {
    std::vector<std::int64_t> shared;
    std::set_intersection(window.begin(), window.end(), windows[0].begin(), windows[0].end(),
                          std::back_inserter(shared));
    CHECK(shared.size() >= 4);
    CHECK(*window.begin() > 1000);  // it did move
  }
}

TEST_CASE("list-append: the newest key is drawn half of the time") {
  auto generator = make_generator("list-append", {{"read-ratio", "1"}}, 0, 1);
  std::map<std::int64_t, int> draws;
  int all = 0;
  for (const auto& payload : draw(*generator, 90)) {  // the window does not move yet
    for (const auto& micro_op : std::get<Txn>(payload).micro_ops) {
      ++draws[micro_op.key.integer()];
      ++all;
    }
  }
  CHECK(draws[9] > all * 4 / 10);
  CHECK(draws[9] < all * 6 / 10);
  CHECK(draws[8] > all / 6);
  CHECK(draws.rbegin()->first == 9);
}

TEST_CASE("list-append: lengths and read ratio are as set") {
  auto generator = make_generator(
      "list-append",
      {{"min-transaction-length", "2"}, {"max-transaction-length", "3"}, {"read-ratio", "0"}}, 0,
      1);
  std::set<std::size_t> lengths;
  for (const auto& payload : draw(*generator, 200)) {
    lengths.insert(std::get<Txn>(payload).micro_ops.size());
  }
  CHECK(lengths == std::set<std::size_t>{2, 3});
}

TEST_CASE("list-append: the final phase reads the last window, then ends") {
  auto generator = make_generator("list-append", {}, 0, 2);
  const auto touched = keys_of_last(draw(*generator, 2000), 20);
  Window read;
  const auto reads = draw_final(*generator);
  CHECK(reads.size() <= 4);
  for (const auto& payload : reads) {
    for (const auto& micro_op : std::get<Txn>(payload).micro_ops) {
      CHECK(micro_op.function == MicroFunction::read);
      read.insert(micro_op.key.integer());
    }
  }
  CHECK(std::includes(read.begin(), read.end(), touched.begin(), touched.end()));
  CHECK_FALSE(generator->next_final());
}

TEST_CASE("list-append: settings that make no sense are refused") {
  CHECK_FALSE(try_workload("list-append", {{"isolation", "chaos"}}));
  CHECK_FALSE(try_workload("list-append", {{"read-ratio", "-0.1"}}));
  const auto made = try_workload("list-append", {{"min-transaction-length", "5"}});
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("more than") != std::string::npos);
}

}  // namespace
}  // namespace ordeal
