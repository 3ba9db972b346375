// Which spellings of a key or value are the same value, and what can be none.
#include "history/formats.h"
#include "history/writer.h"
#include "support.h"

namespace ordeal {
namespace {

Result<ReadHistory> read_value(const std::string& micro_op) {
  return read_edn(
      "{:type :invoke, :process 0, :f :txn, :value nil}\n{:type :ok, :process 0, :f :txn, "
      ":value [" +
          micro_op + "]}\n",
      "h.edn");
}

MicroOp micro_op(const Result<ReadHistory>& read) {
  INFO((read ? "" : read.error().message));
  REQUIRE(read.has_value());
  const Operation last = read->history.operation(static_cast<Position>(read->history.size() - 1));
  return std::get<Txn>(last.payload).micro_ops.at(0);
}

std::string text_of(const std::string& value) {
  const MicroOp op = micro_op(read_value("[:w " + value + " " + value + "]"));
  CHECK(op.key == op.value);
  CHECK(micro_op(read_value("[:r 1 [0 " + value + "]]")).list->at(1) == op.value);
  return op.key.text();
}

std::string text_of_json(const std::string& value) {
  return micro_op(read_json(R"({"type": "ok", "process": 0, "f": "txn", "value": [["w", 1, )" +
                                value + "]]}",
                            "h.json", {}))
      .value.text();
}

TEST_CASE("the order of a map's entries and of a set's elements does not count") {
  CHECK(text_of("{:b 2 :a 1}") == "{:a 1, :b 2}");
  CHECK(text_of("{:a +1,, :b 2N}") == "{:a 1, :b 2}");
  CHECK(text_of("#{3 1 :x \"y\"}") == "#{\"y\" 1 3 :x}");
  CHECK(text_of("{}") == "{}");
  CHECK(text_of("#{}") == "#{}");
  CHECK(text_of("{{:d 1 :c 2} 5}") == "{{:c 2, :d 1} 5}");
  CHECK(text_of("[{:b #{2 1} :a nil} #foo {2 b 1 a}]") == "[{:a nil, :b #{1 2}} #foo {1 a, 2 b}]");
  CHECK(text_of("{:b #_7 2 ; last\n :a 1}") == "{:a 1, :b 2}");
}

TEST_CASE("a list equals the vector of its elements") {
  CHECK(text_of("(:pg 1)") == "[:pg 1]");
  CHECK(text_of("[:pg (1 (2))]") == "[:pg [1 [2]]]");
}

TEST_CASE("the order of an object's members does not count in JSON") {
  CHECK(text_of_json(R"({"b": 2, "a": {"d": 1, "c": [1]}})") == R"({"a" {"c" [1], "d" 1}, "b" 2})");
  CHECK(text_of_json(R"({"edn": "#{2 1}"})") == "#{1 2}");
}

std::string wrong(const std::string& value) {
  const auto read = read_value("[:w 1 " + value + "]");
  REQUIRE_FALSE(read.has_value());
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().message;
}

TEST_CASE("what says a key twice is no value") {
  CHECK(wrong("{:a 1 :a 1}") ==
        "h.edn:2: expected a map with different keys, found `{:a 1 :a 1}]]}`");
  CHECK(wrong("[{1 2 +1 3}]") ==
        "h.edn:2: expected a map with different keys, found `{1 2 +1 3}]]]}`");
  CHECK(wrong("#{1 2 1}") == "h.edn:2: expected a set with different elements, found `{1 2 1}]]}`");
  CHECK(wrong("{#{1 2} 1, #{2 1} 2}").find("h.edn:2: expected a map with different keys") == 0);
  CHECK(wrong("{:a}") == "h.edn:2: expected a value for each key of a map, found `{:a}]]}`");
  const auto json = read_json(
      R"({"type": "ok", "process": 0, "f": "txn", "value": [["w", 1, {"a": 1, "a": 2}]]})",
      "h.json", {});
  REQUIRE_FALSE(json.has_value());
  CHECK_THAT(json.error().message,
             Catch::StartsWith("h.json:1: expected a map with different keys"));
}

TEST_CASE("other payloads stay as they are written") {
  const std::string text = "{:type :ok, :process 0, :f :update, :value {:b 1, :a 2, :a (1)}}\n";
  const auto read = read_edn(text, "h.edn");
  REQUIRE(read.has_value());
  CHECK(read->history.operation(0).payload == Payload(Opaque{"{:b 1, :a 2, :a (1)}"}));
}

TEST_CASE("what is written has the one text, and reads as the same value") {
  const TempDir dir;
  const auto read = read_value("[:append {:b 1 :a (1)} #{2 1}]");
  for (const char* name : {"h.ohist", "h.edn", "h.json"}) {
    REQUIRE(write_history(dir / name, read->history, {}).has_value());
    CHECK(operations_of(read_ok(dir / name).history) == operations_of(read->history));
  }
  CHECK_THAT(slurp(dir / "h.edn"), Catch::Contains("[:append {:a [1], :b 1} #{1 2}]"));
}

TEST_CASE("lists are read where vectors are expected") {
  const MicroOp op = micro_op(read_edn(
      "({:type :ok, :process 0, :f :txn, :value ((:r :x (1 2)) [:append :x 3])})", "h.edn"));
  CHECK(op == MicroOp{MicroFunction::read, Value::symbol(":x"), Value(),
                      std::vector<Value>{Value(1), Value(2)}});
  CHECK(wrong("1] (:cas 1 2) [:r 1 nil").find("expected [:r key value]") != std::string::npos);
}

TEST_CASE("an operation that says a thing twice is refused") {
  const std::string start = "{:process 0, :type :ok,\n :f :txn, ";
  for (const std::string field :
       {":type :ok", ":process 1", ":f :txn", ":index 1, :index 1", ":time 1, :time 1",
        ":value [], :value []", ":error :x, :error :x"}) {
    const auto read = read_edn(start + field + "}", "h.edn");
    CAPTURE(field);
    REQUIRE_FALSE(read.has_value());
    CHECK_THAT(read.error().message,
               Catch::StartsWith("h.edn:2: expected each key of an operation once, found `:"));
  }
  CHECK(read_edn(start + ":node 1, :node 1}", "h.edn").has_value());
  const auto json = read_json(
      "{\"type\": \"ok\", \"process\": 0}\n"
      "{\"type\": \"ok\", \"process\": 0, \"type\": \"fail\"}",
      "h.json", {});
  REQUIRE_FALSE(json.has_value());
  CHECK_THAT(json.error().message,
             Catch::StartsWith("h.json:2: expected each key of an operation once"));
}

}  // namespace
}  // namespace ordeal
