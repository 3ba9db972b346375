// What histories of other tools have in them: each test is one thing that real files do.
#include "history/formats.h"
#include "history/writer.h"
#include "support.h"

namespace ordeal {
namespace {

ReadHistory edn(const std::string& text) {
  auto read = read_edn(text, "h.edn");
  INFO((read ? "" : read.error().message));
  REQUIRE(read.has_value());
  return *std::move(read);
}

std::string edn_error(const std::string& text) {
  const auto read = read_edn(text, "h.edn");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().message;
}

ReadHistory json(const std::string& text) {
  auto read = read_json(text, "h.json");
  INFO((read ? "" : read.error().message));
  REQUIRE(read.has_value());
  return *std::move(read);
}

Txn txn_of(const History& history, Position at) {
  return std::get<Txn>(history.operation(at).payload);
}

Value key_of(const std::string& key) {
  return txn_of(edn("{:type :ok, :process 0, :f :txn, :value [[:w " + key + " 1]]}").history, 0)
      .micro_ops.at(0)
      .key;
}

const std::string kInvoke =
    "{:type :invoke, :process 0, :f :txn, :value [[:append :x 5] [:r [:pg 1] nil]]}\n";

TEST_CASE("no index, no time: the place in the file and 0") {
  const History history = edn(kInvoke + kInvoke).history;
  CHECK(history.event(1).index == 1);
  CHECK(history.event(1).time_ns == 0);
}

TEST_CASE("a process that goes on after info, and invocations that never complete") {
  const History history =
      edn("{:type :invoke, :process 0, :f :txn, :value [[:append 1 1]]}\n"
          "{:type :info, :process 0, :f :txn, :value [[:append 1 1]], :error :timeout}\n"
          "{:type :invoke, :process 0, :f :txn, :value [[:append 1 2]]}\n"
          "{:type :ok, :process 0, :f :txn, :value [[:append 1 2]]}\n"
          "{:type :invoke, :process 0, :f :txn, :value [[:append 1 3]]}\n")
          .history;
  CHECK(history.event(0).partner == 1);
  CHECK(history.event(2).partner == 3);
  CHECK(history.event(4).partner == kNoPosition);
}

TEST_CASE("operations of the nemesis need not come in pairs, nor agree") {
  const auto read =
      edn("{:type :info, :process :nemesis, :f :start, :value nil}\n"
          "{:type :info, :process :nemesis, :f :start, :value [:isolated {\"n1\" #{\"n2\"}}]}\n"
          "{:type :invoke, :process :nemesis, :f :stop, :value :all}\n"
          "{:type :info, :process :nemesis, :f :kill, :value {:a 1}}\n");
  CHECK(read.history.size() == 4);
}

TEST_CASE("the invocation supplies what a completion lacks") {
  const auto second = [](const std::string& completion) {
    return edn(kInvoke + completion).history.operation(1);
  };
  const Txn supplied{{{MicroFunction::append, Value::symbol(":x"), Value(5), std::nullopt},
                      {MicroFunction::read, Value::symbol("[:pg 1]"), Value(), std::nullopt}}};
  CHECK(second("{:type :info, :process 0, :f :txn, :value nil}").payload == Payload(supplied));
  CHECK(second("{:type :fail, :process 0, :f :txn}").payload == Payload(supplied));
  CHECK(second("{:type :info, :process 0}").payload == Payload(supplied));
  CHECK(second("{:type :info, :process 0}").function == "txn");
  CHECK(second("{:type :info, :process 0, :f :txn, :value []}").payload == Payload(supplied));
  CHECK(second("{:type :ok, :process 0, :f :txn, :value [[:append :x nil] [:r [:pg 1] nil]]}")
            .payload == Payload(supplied));
  // What an ok transaction read is unknown, which is not the same as nil, the empty list.
  Txn without_reads = supplied;
  without_reads.micro_ops.pop_back();
  CHECK(second("{:type :ok, :process 0, :f :txn, :value nil}").payload == Payload(without_reads));
  const std::string transfer =
      "{:type :invoke, :process 0, :f :transfer, :value {:from 1, :to 2, :amount 3}}\n"
      "{:type :ok, :process 0, :f :transfer, :value nil}";
  CHECK(edn(transfer).history.operation(1).payload == Payload(Transfer{Value(1), Value(2), 3}));
}

TEST_CASE("where both have a value, the completion's wins") {
  const auto txn = txn_of(
      edn(kInvoke + "{:type :ok, :process 0, :f :txn, :value [[:append :x 6] [:r [:pg 1] [7]]]}")
          .history,
      1);
  CHECK(txn.micro_ops[0].value == Value(6));
  CHECK(txn.micro_ops[1].list == std::vector{Value(7)});
}

TEST_CASE("a completion of something else is an error") {
  const auto error = [](const std::string& completion) {
    const std::string message = edn_error("\n" + kInvoke + completion);
    CHECK_THAT(message,
               Catch::StartsWith("h.edn:3: expected ") && Catch::Contains("found `{:type"));
    return message;
  };
  CHECK_THAT(error("{:type :ok, :process 0, :f :txn, :value [[:append :y 5] [:r [:pg 1] nil]]}"),
             Catch::Contains("expected [:append :x ...] as in the invocation (index 0), not "
                             "[:append :y ...]"));
  CHECK_THAT(error("{:type :fail, :process 0, :f :txn, :value [[:r :x 5] [:r [:pg 1] nil]]}"),
             Catch::Contains("expected [:append :x ...]"));
  CHECK_THAT(error("{:type :info, :process 0, :f :txn, :value [[:r [:pg 1] nil] [:append :x 5]]}"),
             Catch::Contains("not [:r [:pg 1] ...], found `"));
  CHECK_THAT(error("{:type :ok, :process 0, :f :txn, :value [[:r [:pg 1] nil]]}"),
             Catch::Contains("expected [:append :x ...]"));
  CHECK_THAT(error("{:type :ok, :process 0, :f :read, :value nil}"),
             Catch::Contains("expected :f :txn as in the invocation (index 0), not :f :read"));
  CHECK_THAT(error("{:type :ok, :process 0, :f :txn, :value 7}"),
             Catch::Contains("expected a value of the same kind"));
  const auto of_json = read_json(R"({"type":"invoke","process":0,"f":"txn","value":[["r",1,null]]})"
                                 "\n"
                                 R"({"type":"ok","process":0,"f":"txn","value":[["r",2,[]]]})",
                                 "h.json");
  REQUIRE_FALSE(of_json.has_value());
  CHECK_THAT(of_json.error().message, Catch::StartsWith("h.json:2: expected [:r 1 ...]"));
}

TEST_CASE("a completion of something else in a recorded history is an error, too") {
  const TempDir directory;
  const Txn one{{{MicroFunction::append, Value(1), Value(1), std::nullopt}}};
  const Txn other{{{MicroFunction::append, Value(2), Value(1), std::nullopt}}};
  const History history = history_of({{0, {}, ProcessId{0}, Phase::invoke, "txn", one, ""},
                                      {1, {}, ProcessId{0}, Phase::ok, "txn", other, ""}});
  REQUIRE(write_history(directory / "h.ohist", history, {}).has_value());
  CHECK_THAT(read_error(directory / "h.ohist"),
             Catch::Contains("operation 2 (index 1, process 0) completes another operation: "
                             "expected [:append 1 ...]"));
}

TEST_CASE("empty transactions, and nil versus [] in reads") {
  const History history =
      edn("{:type :invoke, :process 0, :f :txn, :value []}\n"
          "{:type :ok, :process 0, :f :txn, :value []}\n"
          "{:type :ok, :process 1, :f :txn, :value [[:r 1 nil] [:r 1 []] [:r 1 ()]]}")
          .history;
  CHECK(txn_of(history, 1).micro_ops.empty());
  const Txn reads = txn_of(history, 2);
  CHECK_FALSE(reads.micro_ops[0].list.has_value());
  CHECK(reads.micro_ops[1].list == std::vector<Value>{});
  CHECK(reads.micro_ops[2].list == std::vector<Value>{});
}

TEST_CASE("keys are what they are: keywords, strings, numbers, vectors, unicode") {
  CHECK(key_of("[:pg 1]") == key_of("[:pg,  1 ; one\n ]"));
  CHECK(key_of("[:pg 1]") != key_of("[:pg \"1\"]"));
  CHECK(key_of("1") != key_of("\"1\""));
  CHECK(key_of(":a") != key_of("\"a\""));
  CHECK(key_of("-7") == Value(-7));
  CHECK(key_of("1.5") != key_of("1"));
  CHECK(key_of("\"\xd1\x85\"") == key_of("\"\\u0445\""));
  CHECK(key_of("\"a\\tb\"") == key_of("\"a\tb\""));
  CHECK(key_of("\"\xf0\x9f\x98\x80\"") == key_of("\"\\ud83d\\ude00\""));
  CHECK(key_of(":\xd1\x85").text() == ":\xd1\x85");
}

TEST_CASE("numbers are exact in EDN and JSON") {
  const auto in_json = [](const std::string& value) {
    return txn_of(json(R"({"type":"ok","process":0,"f":"txn","value":[["w",1,)" + value + "]]}")
                      .history,
                  0)
        .micro_ops.at(0)
        .value;
  };
  const auto in_edn = [](const std::string& value) {
    return txn_of(edn("{:type :ok, :process 0, :f :txn, :value [[:w 1 " + value + "]]}").history, 0)
        .micro_ops.at(0)
        .value;
  };
  for (const std::string number :
       {"0", "-1", "999999999999999999", "9999999999999999999", "-9999999999999999999",
        "9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808",
        "18446744073709551615", "123456789012345678901234567890", "-123456789012345678901234567890",
        "-0.0", "1e400", "0.1", "1.50"}) {
    CAPTURE(number);
    CHECK(in_json(number).text() == number);
    CHECK(in_edn(number) == in_json(number));
  }
  CHECK(in_edn("+5") == Value(5));
  CHECK(in_edn("5N") == Value(5));
  CHECK(in_edn("+123456789012345678901234567890N").text() == "123456789012345678901234567890");
  CHECK(in_edn("-0") == Value(0));
  CHECK(in_json("-0") == Value(0));
  CHECK(in_edn("-0.0") != in_edn("0.0"));
  CHECK(in_edn("##NaN") == in_edn("##NaN"));
  CHECK(in_json("NaN") == in_edn("##NaN"));
  CHECK(in_json("Infinity") == in_edn("##Inf"));
  CHECK(in_json("-Infinity") == in_edn("##-Inf"));
}

TEST_CASE("the order of keys in an operation does not matter") {
  const auto a = edn("{:type :ok, :f :txn, :value [[:r 1 [2]]], :process 4, :index 3, :time 5}");
  const auto b = edn("{:value [[:r 1 [2]]], :time 5, :index 3, :f :txn, :process 4, :type :ok}");
  CHECK(a.history.operation(0) == b.history.operation(0));
}

TEST_CASE("an empty file is an empty history") {
  const TempDir directory;
  for (const std::string text : {"", "\n", " \r\n\n", "[]", "; nothing\n", "()", "[\n]\n"}) {
    CAPTURE(text);
    spit(directory / "h.edn", text);
    CHECK(read_ok(directory / "h.edn").history.size() == 0);
  }
}

TEST_CASE("zeros at the end, as a loss of power leaves them, are a truncated line") {
  const std::string zeros(100, '\0');
  for (const std::string& text : {kInvoke + zeros, kInvoke + "{:type :in" + zeros}) {
    const auto read = read_edn(text, "h.edn");
    if (!read) continue;  // half an operation and zeros is no EDN; that is said
    CHECK(read->history.size() == 1);
    REQUIRE(read->warnings.size() == 1);
    CHECK_THAT(read->warnings[0], Catch::Contains("line 2"));
  }
  CHECK_THAT(edn_error(kInvoke + std::string(1, '\0') + kInvoke),
             Catch::StartsWith("h.edn:2: expected an operation"));
}

TEST_CASE("forks, shrinking lists and other spellings of lists are read as they are") {
  const auto lists = [](const std::string& reads) {
    std::vector<std::string> found;
    for (const auto& op :
         txn_of(edn("{:type :ok, :process 0, :f :txn, :value [" + reads + "]}").history, 0)
             .micro_ops) {
      std::string text;
      for (const Value element : *op.list) text += element.text() + ",";
      found.push_back(text);
    }
    return found;
  };
  using Texts = std::vector<std::string>;
  CHECK(lists("[:r 1 [1 2 3]] [:r 1 [1 2]] [:r 1 [1 2 3 4]] [:r 1 []] [:r 1 [1 2 30]]") ==
        Texts{"1,2,3,", "1,2,", "1,2,3,4,", "", "1,2,30,"});
  CHECK(lists("[:r 1 [1 2]] [:r 1 [1 23]] [:r 1 [1 2 3]] [:r 1 [1  2 3]] [:r 1 (1 2 3 4)]") ==
        Texts{"1,2,", "1,23,", "1,2,3,", "1,2,3,", "1,2,3,4,"});
  CHECK(lists("[:r 1 [\"a\" \"b\"]] [:r 1 [\"a\" \"b c\"]] [:r 1 [\"a\"]] [:r 2 [\"a\" #_ 1 2]] "
              "[:r 2 [\"a\" #_ 1 2 3]] [:r 2 [\"a\" #_ 1 4]]") ==
        Texts{"\"a\",\"b\",", "\"a\",\"b c\",", "\"a\",", "\"a\",2,", "\"a\",2,3,", "\"a\",4,"});
}

}  // namespace
}  // namespace ordeal
