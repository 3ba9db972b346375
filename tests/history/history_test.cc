// HistoryBuilder: pairing, and lists that share their storage.
#include "history/history.h"

#include "support.h"

namespace ordeal {
namespace {

Operation reads(std::int64_t process, Phase phase, std::vector<std::int64_t> elements) {
  std::vector<Value> list;
  for (const auto element : elements) list.emplace_back(element);
  return {0,     {},    ProcessId{process},
          phase, "txn", Txn{{{MicroFunction::read, Value(1), Value(), list}}},
          ""};
}

TEST_CASE("completions pair with the open invocation of their process") {
  const History history =
      history_of({reads(1, Phase::invoke, {}), reads(-1, Phase::invoke, {}),
                  reads(1, Phase::ok, {}), reads(1, Phase::fail, {}), reads(-1, Phase::info, {}),
                  reads(1LL << 40, Phase::invoke, {}), reads(1LL << 40, Phase::ok, {})});
  std::vector<Position> partners;
  for (const auto& event : history.events()) partners.push_back(event.partner);
  CHECK(partners == std::vector<Position>{2, 4, 0, kNoPosition, 1, 6, 5});
}

TEST_CASE("reads that are prefixes of each other share one list, others have their own") {
  const std::vector<Operation> operations{
      reads(1, Phase::ok, {1, 2}), reads(1, Phase::ok, {}),
      reads(1, Phase::ok, {1}),    reads(1, Phase::ok, {1, 2, 3}),
      reads(1, Phase::ok, {1, 5}), reads(1, Phase::ok, {1, 2, 3, 4})};
  const History history = history_of(operations);
  const auto storage = [&](Position at) { return history.micro_ops(history.event(at))[0].list; };
  CHECK(operations_of(history) == operations);
  CHECK(storage(0) == storage(3));
  CHECK(storage(2) == storage(5));
  CHECK(storage(4) != storage(0));
}

TEST_CASE("a list that is known to start as another compares only the rest") {
  HistoryBuilder builder;
  const KeyId key = builder.key_id(Value(1));
  const std::vector<Value> elements{Value(1), Value(2), Value(3), Value(9)};
  const std::span<const Value> all(elements);
  const auto first = builder.add_list(key, {}, all.first(2));
  const auto longer = builder.add_list(key, first, all.subspan(2, 1));
  CHECK(longer.list == first.list);
  CHECK(longer.length == 3);
  const auto fork = builder.add_list(key, first, all.subspan(3, 1));
  CHECK(fork.list != first.list);
  CHECK(fork.length == 3);
}

}  // namespace
}  // namespace ordeal
