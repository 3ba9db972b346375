// Histories that are long enough for the analysis to use two threads.
#include <catch2/catch.hpp>

#include "tests/checkers/shorthand.h"

namespace ordeal {
namespace {

using test::check_append;
using Names = std::vector<std::string>;

// One transaction after the other reads a list and appends to it, 60 times a list; one reads a
// stale state.
History long_history(std::optional<std::int64_t> stale) {
  HistoryBuilder builder;
  std::vector<Value> list;
  std::uint64_t index = 0;
  for (std::int64_t at = 0; at < 6'000; ++at) {
    if (at % 60 == 0) list.clear();
    for (const Phase phase : {Phase::invoke, Phase::ok}) {
      Txn txn{{{MicroFunction::read, Value(at / 60), Value(), std::nullopt},
               {MicroFunction::append, Value(at / 60), Value(at), std::nullopt}}};
      if (phase == Phase::ok) txn.micro_ops[0].list = list;
      if (phase == Phase::ok && at == stale) txn.micro_ops[0].list->pop_back();
      builder.add({index++, {}, ProcessId{at % 5}, phase, "txn", std::move(txn), ""});
    }
    list.emplace_back(at);
  }
  return std::move(builder).build();
}

TEST_CASE("a history that is long enough for two threads") {
  CHECK(check_append(long_history(std::nullopt)).validity == Validity::valid);
  const CheckResult stale = check_append(long_history(5'000));
  CHECK(stale.validity == Validity::invalid);
  CHECK(stale.anomaly_types == Names{"G-single-item", "lost-update"});
}

}  // namespace
}  // namespace ordeal
