// Blocks: encoding is undone by decoding, and decoding survives whatever a file may hold.
#include <google/protobuf/unknown_field_set.h>

#include "history/block_decoder.h"
#include "history/block_encoder.h"
#include "proto/history.pb.h"
#include "support.h"

namespace ordeal {
namespace {

proto::Block encoded(const std::vector<Operation>& operations) {
  proto::Block block;
  encode_block(operations, block);
  return block;
}

std::vector<Operation> decoded(const proto::Block& block) {
  HistoryBuilder builder;
  const std::string wrong = decode_block(block, builder);
  REQUIRE(wrong == "");
  return operations_of(std::move(builder).build());
}

Operation txn(std::uint64_t index, Phase phase, std::vector<MicroOp> micro_ops) {
  return {
      index, std::chrono::nanoseconds(index), ProcessId{1}, phase, "txn", Txn{std::move(micro_ops)},
      ""};
}

TEST_CASE("a block holds every kind of operation") {
  for (const int seed : {1, 2, 3, 4, 5}) {
    const auto operations = random_operations(Random(static_cast<std::uint64_t>(seed)), 2000);
    CHECK(decoded(encoded(operations)) == operations);
  }
}

TEST_CASE("blocks are self-contained, and a later one finds lists of an earlier one") {
  const auto operations = random_operations(Random(7), 3000, true);
  HistoryBuilder builder;
  for (std::size_t begin = 0; begin < operations.size(); begin += 100) {
    const auto some = std::span(operations).subspan(begin, 100);
    proto::Block block;
    encode_block(some, block);
    CHECK(decoded(block) == std::vector<Operation>(some.begin(), some.end()));
    REQUIRE(decode_block(block, builder) == "");
  }
  const History history = std::move(builder).build();
  CHECK(operations_of(history) == operations);
  const History added_singly = history_of(operations);
  for (Position at = 0; at < history.size(); ++at) {
    REQUIRE(history.event(at).partner == added_singly.event(at).partner);
  }
}

TEST_CASE("indexes may jump") {
  std::vector<Operation> operations = random_operations(Random(8), 10, true);
  operations[0].index = 5;
  operations[3].index = 100;
  operations[4].index = 1;
  CHECK(decoded(encoded(operations)) == operations);
  CHECK(encoded(random_operations(Random(8), 10, true)).index_jump().empty());
}

TEST_CASE("a completion costs only what its reads returned") {
  const MicroOp append{MicroFunction::append, Value(3), Value(7), std::nullopt};
  MicroOp read{MicroFunction::read, Value(3), Value(), std::nullopt};
  const auto invoked = txn(0, Phase::invoke, {append, read});
  read.list = {Value(7)};
  const auto block = encoded({invoked, txn(1, Phase::ok, {append, read})});
  CHECK(block.micro_key_size() == 2);
  CHECK(block.micro_value_size() == 1);
  CHECK(block.list_element_size() == 1);
}

TEST_CASE("the example of docs/history-format.md is what the encoder writes") {
  const MicroOp append{MicroFunction::append, Value(7), Value(3), std::nullopt};
  MicroOp read{MicroFunction::read, Value(7), Value(), std::nullopt};
  auto invoked = txn(0, Phase::invoke, {append, read});
  invoked.time = std::chrono::nanoseconds(10);
  read.list = {Value(3)};
  auto completed = txn(1, Phase::ok, {append, read});
  completed.time = std::chrono::nanoseconds(25);
  CHECK(encoded({invoked, completed}).ShortDebugString() ==
        "count: 2 first_time_ns: 10 time_delta_ns: 0 time_delta_ns: 15 process: 0 process: 0 "
        "phase_and_payload: \"\\004\\t\" process_table: 1 function_table: \"txn\" key_table: 14 "
        "micro_op_count: 2 micro_function: \"\\001\\000\" micro_key: 0 micro_key: 0 micro_value: 6 "
        "read_result: \"\\000\\001\" list_shared: 0 list_rest: 1 list_element: 6");
}

TEST_CASE("a read that others have a prefix of, or that is one, costs two numbers") {
  std::vector<Operation> operations;
  std::vector<Value> list;
  for (int i = 0; i < 50; ++i) {
    list.emplace_back(i);
    operations.push_back(txn(static_cast<std::uint64_t>(i), Phase::ok,
                             {{MicroFunction::read, Value(1), Value(), list}}));
  }
  const auto block = encoded(operations);
  CHECK(block.list_element_size() == 50);
  CHECK(decoded(block) == operations);
}

TEST_CASE("fields of a newer version survive being parsed and written again") {
  proto::Block block = encoded(random_operations(Random(9), 5, true));
  block.GetReflection()->MutableUnknownFields(&block)->AddLengthDelimited(900, "from the future");
  proto::Block again;
  REQUIRE(again.ParseFromString(block.SerializeAsString()));
  CHECK(again.SerializeAsString() == block.SerializeAsString());
  CHECK(decoded(again).size() == 5);
}

std::string wrong_with(const proto::Block& block) {
  HistoryBuilder builder;
  return decode_block(block, builder);
}

TEST_CASE("hostile blocks are refused") {
  const auto good = encoded(random_operations(Random(10), 300, true));
  REQUIRE(wrong_with(good) == "");
  proto::Block bad = good;
  SECTION("a count that is not there") { bad.set_count(301); }
  SECTION("more operations than allowed") {
    bad.set_count(1U << 30U);
    bad.mutable_phase_and_payload()->resize(1U << 21U);
  }
  SECTION("a process beyond the table") { bad.set_process(0, 1000); }
  SECTION("a function beyond the table") { bad.set_function(0, 1000); }
  SECTION("a key beyond the table") { bad.set_micro_key(0, 1000); }
  SECTION("a text beyond the table") { bad.set_key_table(0, 2001); }
  SECTION("a huge transaction") { bad.set_micro_op_count(0, 0xffffffffU); }
  SECTION("a huge list") { bad.set_list_rest(0, 0xffffffffU); }
  SECTION("a list that shares what does not exist") { bad.set_list_shared(0, 77); }
  SECTION("huge balances") { bad.set_balance_count(0, 0xffffffffU); }
  SECTION("a column too short") { bad.mutable_time_delta_ns()->RemoveLast(); }
  SECTION("a column too long") { bad.add_micro_value(1); }
  SECTION("an unknown payload") {
    (*bad.mutable_phase_and_payload())[0] = static_cast<char>(60U << 2U);
  }
  SECTION("a completion without its invocation") {
    (*bad.mutable_phase_and_payload())[0] = 1 | (2 << 2);
  }
  SECTION("an invocation of an invocation") {
    (*bad.mutable_phase_and_payload())[0] = 0 | (3 << 2);
  }
  SECTION("a missing fault") { bad.mutable_fault()->RemoveLast(); }
  SECTION("a missing note") { bad.mutable_note()->RemoveLast(); }
  CHECK(wrong_with(bad) != "");
}

TEST_CASE("lists that would unfold to gigabytes are refused") {
  std::vector<Operation> operations;
  std::vector<Value> list;
  for (int i = 0; i < 20'000; ++i) list.emplace_back(i);
  operations.push_back(txn(0, Phase::ok, {{MicroFunction::read, Value(1), Value(), list}}));
  auto block = encoded(operations);
  // 2,000 forks of it at the last element: 40,000 elements in the file, 40,000,000 in memory.
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    block.set_count(i + 1);
    block.add_time_delta_ns(0);
    block.add_process(0);
    block.mutable_phase_and_payload()->push_back(1 | (1 << 2));
    block.add_micro_op_count(1);
    block.mutable_micro_function()->push_back(0);
    block.add_micro_key(0);
    block.mutable_read_result()->push_back(1);
    block.add_list_shared(19'999);
    block.add_list_rest(1);
    block.add_list_element(2 * (100'000 + i));
  }
  CHECK(wrong_with(block) == "its lists are larger than a reader may accept");
}

TEST_CASE("random damage inside a block never does harm") {
  const std::string good = encoded(random_operations(Random(11), 60, true)).SerializeAsString();
  Random random(12);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good;
    for (std::uint64_t i = 0; i <= random.below(3); ++i) {
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    }
    proto::Block block;
    if (!block.ParseFromString(bytes)) continue;
    refused += wrong_with(block) != "" ? 1 : 0;
  }
  CHECK(refused > 1000);
}

}  // namespace
}  // namespace ordeal
