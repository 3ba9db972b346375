// JSON histories, with the keys of Jepsen's EDN.
#include <cstring>

#include "history/writer.h"
#include "support.h"

namespace ordeal {
namespace {

struct File {
  TempDir directory;
  std::filesystem::path path = directory / "h.json";
  explicit File(std::string_view text) { spit(path, text); }
};

constexpr std::string_view kLine = R"({"index":0,"time":5,"type":"invoke","process":0,"f":"txn",)"
                                   R"("value":[["append","x",1],["r",2,null]]})";

TEST_CASE("JSON is an array or a line each, and reads as the EDN does") {
  const std::string line(kLine);
  const std::string edn =
      "{:index 0, :time 5, :type :invoke, :process 0, :f :txn, :value [[:append \"x\" 1] [:r 2 "
      "nil]]}";
  const File file(edn);
  const auto expected = operations_of(read_ok(file.path, "edn").history);
  for (const auto& text :
       {line, line + "\n", "[" + line + "]", " [\n" + line + "\n]\n", "\xef\xbb\xbf" + line}) {
    CAPTURE(text);
    spit(file.path, text);
    const ReadHistory read = read_ok(file.path);
    CHECK(read.warnings.empty());
    CHECK(operations_of(read.history) == expected);
  }
}

TEST_CASE("payloads and the nemesis in JSON") {
  const auto payload = [](const std::string& function, const std::string& value) {
    const File file(R"({"type":"ok","process":"nemesis","f":")" + function + R"(","value":)" +
                    value + "}");
    const auto operation = read_ok(file.path).history.operation(0);
    CHECK(operation.process == kNemesis);
    return operation.payload;
  };
  CHECK(payload("transfer", R"({"from":1,"to":"b","amount":-3})") ==
        Payload(Transfer{Value(1), Value::symbol("\"b\""), -3}));
  CHECK(payload("read", R"({"1":10,"0":20})") ==
        Payload(Balances{{{{Value(0), 20}, {Value(1), 10}}}}));
  CHECK(payload("read", "null") == Payload(Balances{}));
  CHECK(payload("txn", R"([["r",":k",[1,"a",{"edn":"[:pg 1]"}]]])") ==
        Payload(Txn{{{MicroFunction::read, Value::symbol(":k"), Value(),
                      std::vector{Value(1), Value::symbol("\"a\""), Value::symbol("[:pg 1]")}}}}));
  CHECK(payload("x", R"({"a":[1,true,null,2.5]})") == Payload(Opaque{"{\"a\" [1 true nil 2.5]}"}));
  CHECK(payload("txn", R"([["r",1,["w","r","append"]]])") ==
        Payload(Txn{{{MicroFunction::read, Value(1), Value(),
                      std::vector{Value::symbol("\"w\""), Value::symbol("\"r\""),
                                  Value::symbol("\"append\"")}}}}));
  CHECK(payload("x", R"({"edn":"1} {:process 9"})") == Payload(Opaque{"\"1} {:process 9\""}));
}

TEST_CASE("mistakes and cuts in JSON are named") {
  const std::string line(kLine);
  const auto error = [](const std::string& text) {
    const File file(text);
    std::string message = read_error(file.path);
    return message.substr(message.find("h.json"));
  };
  CHECK(error(line + "\n{\"type\":\"ok\"}\n") ==
        "h.json:2: expected an operation with a \"process\", found `{\"type\":\"ok\"}` (byte 100)");
  CHECK_THAT(error(line + "\n" + R"({"type":"yes","process":1})"),
             Catch::StartsWith("h.json:2: expected :invoke, :ok, :fail or :info"));
  CHECK_THAT(error(line + "\n{\"type\"\n" + line),
             Catch::StartsWith("h.json:3: expected : behind a key, found `{"));
  CHECK_THAT(error(line + "\n" + R"({"type":"ok","process":1,"f":"txn","value":[["append",1]]})"),
             Catch::StartsWith("h.json:2: expected [:r key value]") &&
                 Catch::Contains(R"(found `["append" 1]])"));
  CHECK_THAT(error("[" + line + ", 7]"),
             Catch::StartsWith("h.json:1: expected an operation, an object, found `7]` (byte "));
  CHECK_THAT(error("[" + line + " x]"),
             Catch::StartsWith("h.json:1: expected , or ], found `x]` (byte "));

  CHECK_THAT(error(line + "\n{\"type\":\"ok\n" + line),
             Catch::StartsWith("h.json:2: expected the end of a string, found ``"));

  const File lines(line + "\n" + line.substr(0, 30));
  CHECK(read_ok(lines.path).history.size() == 1);
  CHECK_THAT(read_ok(lines.path).warnings.at(0), Catch::Contains("line 2"));
  const File array("[" + line + ",\n" + line.substr(0, 30));
  CHECK(read_ok(array.path).history.size() == 1);
  CHECK_THAT(read_ok(array.path).warnings.at(0), Catch::Contains("ends before its array does"));
}

TEST_CASE("JSON that is nested too deeply is bad input, and its place is named") {
  const auto nested = [](std::size_t levels, const std::string& open, const std::string& close) {
    std::string value;
    for (std::size_t i = 0; i < levels; ++i) value += open;
    value += '1';
    for (std::size_t i = 0; i < levels; ++i) value += close;
    return R"({"type":"ok","process":0,"f":"x","value":)" + value + "}";
  };
  const std::string line(kLine);
  for (const auto& [open, close] : {std::pair{"[", "]"}, std::pair{R"({"a":)", "}"}}) {
    for (const std::size_t levels : {600U, 200'000U}) {
      CAPTURE(open, levels);
      const File file(line + "\n" + nested(levels, open, close) + "\n");
      CHECK_THAT(read_error(file.path),
                 Catch::Contains("h.json:2: expected fewer levels of nesting, found `" +
                                 std::string(open)));
      spit(file.path, "[" + nested(levels, open, close) + "]");
      // The array, the operation and 498 levels come first.
      const std::size_t byte = nested(0, "", "").size() + 498 * std::strlen(open);
      CHECK_THAT(read_error(file.path),
                 Catch::Contains("h.json:1: expected fewer levels of nesting, found `" +
                                 std::string(open)) &&
                     Catch::EndsWith(" (byte " + std::to_string(byte) + ")"));
    }
    const File file(nested(400, open, close));
    CHECK(read_ok(file.path).history.size() == 1);
  }
  // Brackets in strings are no nesting, nor is what follows an escaped quote.
  const File file(R"({"type":"ok","process":0,"value":"\")" + std::string(1000, '[') + "\"}");
  CHECK(read_ok(file.path).history.size() == 1);
}

TEST_CASE("nil of an unknown kind is null in JSON, both ways") {
  const TempDir directory;
  const Operation operation{0, {}, ProcessId{0}, Phase::ok, "stop", Opaque{"nil"}, ""};
  REQUIRE(write_history(directory / "h.json", history_of({operation}), HistoryHeader{}));
  const std::string text = slurp(directory / "h.json");
  CHECK_THAT(text, Catch::Contains("\"value\":null") && !Catch::Contains("edn"));
  CHECK(read_ok(directory / "h.json").history.operation(0).payload == operation.payload);
}

}  // namespace
}  // namespace ordeal
