#include "tests/workloads/workload_fixture.h"

namespace ordeal {
namespace {

TEST_CASE("bank: transfers stay within the settings, and reads have their share") {
  auto generator = make_generator("bank", {{"accounts", "3"}, {"max-transfer", "2"}}, 0, 1);
  int reads = 0;
  std::map<std::int64_t, int> amounts;
  std::map<std::pair<std::int64_t, std::int64_t>, int> routes;
  for (const auto& payload : draw(*generator, 4000)) {
    if (const auto* transfer = std::get_if<Transfer>(&payload)) {
      ++amounts[transfer->amount];
      ++routes[{transfer->from.integer(), transfer->to.integer()}];
    } else {
      CHECK_FALSE(std::get<Balances>(payload).accounts);
      ++reads;
    }
  }
  CHECK(reads > 1800);
  CHECK(reads < 2200);
  CHECK(amounts.size() == 2);
  CHECK(amounts.contains(1));
  CHECK(amounts.contains(2));
  CHECK(routes.size() == 6);  // every ordered pair of three accounts, none to itself
  for (const auto& [route, count] : routes) {
    CHECK(route.first != route.second);
    CHECK(count > 200);
  }
}

TEST_CASE("bank: one seed gives one sequence, and workers differ") {
  CHECK(draw(*make_generator("bank", {}, 0, 2), 100) ==
        draw(*make_generator("bank", {}, 0, 2), 100));
  CHECK(draw(*make_generator("bank", {}, 0, 2), 100) !=
        draw(*make_generator("bank", {}, 1, 2), 100));
  CHECK(draw(*make_generator("bank", {}, 0, 2, 1), 100) !=
        draw(*make_generator("bank", {}, 0, 2, 2), 100));
}

TEST_CASE("bank: the final phase is one read") {
  auto generator = make_generator("bank", {}, 0, 1);
  CHECK(draw_final(*generator) == std::vector<Payload>{Balances{}});
}

TEST_CASE("bank: settings that make no sense are refused") {
  CHECK_FALSE(try_workload("bank", {{"accounts", "1"}}));
  CHECK_FALSE(try_workload("bank", {{"client", "reckless"}}));
  const auto made = try_workload("bank", {{"read-ratio", "1.5"}});
  REQUIRE_FALSE(made);
  CHECK(made.error().kind == ErrorKind::bad_input);
}

}  // namespace
}  // namespace ordeal
