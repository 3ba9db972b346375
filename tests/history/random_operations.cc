#include <map>

#include "support.h"

namespace ordeal {
namespace {

class Generator {
 public:
  Generator(Random random, bool mismatches) : random_(std::move(random)), mismatches_(mismatches) {}

  Operation next() {
    Operation operation;
    operation.index = index_++;
    time_ += random_.between(0, 100'000);
    operation.time = std::chrono::nanoseconds(time_);
    operation.process = ProcessId{random_.between(-1, 6)};
    auto& open = open_[operation.process.value];
    if (open && random_.chance(0.9)) {
      complete(operation, *open);
      open.reset();
    } else {
      const bool alone = (!open || mismatches_) && random_.chance(0.05);
      operation.phase = alone ? Phase::info : Phase::invoke;
      std::tie(operation.function, operation.payload) = invocation();
      if (operation.phase == Phase::invoke) open = operation;
    }
    if (random_.chance(0.1)) operation.note = random_.pick(notes_);
    return operation;
  }

 private:
  void complete(Operation& operation, const Operation& invoked) {
    operation.phase = static_cast<Phase>(random_.between(1, 3));
    operation.function = invoked.function;
    operation.payload = invoked.payload;
    if (mismatches_ && random_.chance(0.05))
      std::tie(operation.function, operation.payload) = invocation();
    auto* txn = std::get_if<Txn>(&operation.payload);
    if (auto* balances = std::get_if<Balances>(&operation.payload)) fill(*balances);
    if (txn == nullptr) return;
    for (auto& op : txn->micro_ops) fill(op);
    if (mismatches_ && random_.chance(0.05)) txn->micro_ops.pop_back();
  }

  void fill(MicroOp& op) {
    if (op.function == MicroFunction::append) lists_[op.key.text()].push_back(op.value);
    if (op.function != MicroFunction::read || random_.chance(0.1)) return;
    if (random_.chance(0.2)) {
      op.value = scalar();
      return;
    }
    auto& list = lists_[op.key.text()];
    op.list.emplace(list.begin(),
                    list.begin() + random_.between(0, static_cast<std::int64_t>(list.size())));
    if (random_.chance(0.1)) op.list->push_back(scalar());
  }

  void fill(Balances& balances) {
    balances.accounts.emplace();
    for (int account = 0; account < random_.between(0, 4); ++account) {
      balances.accounts->emplace_back(Value(account), random_.between(-100, 100));
    }
  }

  std::pair<std::string, Payload> invocation() {
    switch (random_.below(8)) {
      case 0:
        return {"transfer", Transfer{scalar(), scalar(), random_.between(-5, 5)}};
      case 1:
        return {"read", Balances{}};
      case 2:
        return {"start-partition", FaultEvent{.fault = "partition",
                                              .action = FaultAction::inject,
                                              .hosts = {"n1", "n2"},
                                              .detail = "a \"b\"",
                                              .legs = {"client-db"},
                                              .direction = "both",
                                              .effect = "no answer",
                                              .seen_direction = "upstream"}};
      case 3:
        return {"stop", FaultEvent{"kill", FaultAction::heal, {}, ""}};
      case 4:
        return {random_.pick(functions_), Opaque{"{:a [1 2], :b #{3}}"}};
      default:
        return {"txn", txn()};
    }
  }

  Txn txn() {
    Txn txn;
    for (int i = 0; i <= random_.between(0, 4); ++i) {
      MicroOp op{static_cast<MicroFunction>(random_.below(3)), scalar(), Value(), std::nullopt};
      if (op.function != MicroFunction::read)
        op.value = random_.chance(0.1) ? scalar() : Value(++element_);
      txn.micro_ops.push_back(op);
    }
    return txn;
  }

  Value scalar() {
    if (random_.chance(0.8)) return Value(random_.between(0, 9));
    return random_.pick(scalars_);
  }

  Random random_;
  bool mismatches_;
  std::uint64_t index_ = 0;
  std::int64_t time_ = 0;
  std::int64_t element_ = 0;
  std::map<std::int64_t, std::optional<Operation>> open_;
  std::map<std::string, std::vector<Value>> lists_;
  std::vector<std::string> functions_{"custom", "two words", ":colon", "nil",
                                      "[1]",    "\xd1\x85",  ""};
  std::vector<std::string> notes_{"timed out", "line 1\nline 2\t\"quoted\" \\",
                                  "\xc3\xa9",  "nil",
                                  ":timeout",  "{:type :ok}\n; x"};
  std::vector<Value> scalars_{Value::symbol(":k"),
                              Value::symbol("\"s t\""),
                              Value::symbol("[:pg 1]"),
                              Value::symbol("1.5"),
                              Value(-7),
                              Value(INT64_MAX),
                              Value(INT64_MIN),
                              Value(INT64_MAX / 2),
                              Value::symbol("\":colon\""),
                              Value::symbol("true"),
                              Value::symbol("##NaN"),
                              Value::symbol("-0.0"),
                              Value::symbol("123456789012345678901234567890"),
                              Value::symbol("\"\xd1\x85 \xf0\x9f\x98\x80 \x01\""),
                              Value::symbol("#{\"a\" 1}"),
                              Value::symbol("{\"b\" \\c, :a [1 nil]}"),
                              Value::symbol("#inst \"2020\""),
                              Value::symbol("\"a\\tb\\\"c\\\\\"")};
};

}  // namespace

std::vector<Operation> random_operations(Random random, std::size_t count, bool mismatches) {
  Generator generator(std::move(random), mismatches);
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < count; ++i) operations.push_back(generator.next());
  return operations;
}

}  // namespace ordeal
