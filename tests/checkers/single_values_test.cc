#include "checkers/single_values.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "history/edn_payload.h"

namespace ordeal {
namespace {

History history_of(std::vector<std::string> values) {
  HistoryBuilder builder;
  for (std::uint64_t at = 0; at < values.size(); ++at) {
    builder.add({at,
                 {},
                 ProcessId{0},
                 at % 2 == 0 ? Phase::invoke : Phase::ok,
                 "read",
                 edn_payload("read", values[at]),
                 ""});
  }
  return std::move(builder).build();
}

std::string elements_of(const std::string& edn) {
  const History history = history_of({edn});
  std::vector<Value> elements;
  if (!ValueReader(history).elements(0, elements)) return "none";
  return json_text(json_of(elements));
}

TEST_CASE("elements of vectors, lists and sets") {
  CHECK(elements_of("[1 -2 3]") == "[1,-2,3]");
  CHECK(elements_of("(1 :a)") == R"([1,":a"])");
  CHECK(elements_of(R"(#{1 "b" [1 2]})") == R"([1,"b","[1 2]"])");
  CHECK(elements_of("#ordered/set [1 2]") == "[1,2]");
  CHECK(elements_of("#{}") == "[]");
  CHECK(elements_of("nil") == "[]");
  CHECK(elements_of("{1 2}") == "none");
  CHECK(elements_of("7") == "none");
  CHECK(elements_of(R"("[1 2]")") == "none");
}

TEST_CASE("entries of maps") {
  const History history = history_of({"{0 10, 1 nil}"});
  std::vector<Value> entries;
  CHECK(ValueReader(history).entries(0, entries));
  CHECK(json_text(json_of(entries)) == "[0,10,1,null]");
  CHECK_FALSE(ValueReader(history_of({"[1 2]"})).entries(0, entries));
}

TEST_CASE("the completion's value wins, the invocation supplies what it lacks") {
  const History both = history_of({"1", "2"});
  CHECK(ValueReader(both).value(1) == Value(2));
  CHECK(ValueReader(both).value(0) == Value(1));
  CHECK(ValueReader(both).invoked_value(0) == Value(2));
  const History lacking = history_of({"1", "nil"});
  CHECK(ValueReader(lacking).value(1) == Value(1));
  CHECK(ValueReader(lacking).invoked_value(0) == Value(1));
}

TEST_CASE("values as JSON") {
  CHECK(json_text(json_of(Value::symbol(":x"))) == R"(":x")");
  CHECK(json_text(json_of(Value::symbol(R"("a\nb")"))) == R"("a\nb")");
  CHECK(json_text(json_of(Value())) == "null");
  CHECK(json_text(json_of(Value::symbol("true"))) == "true");
  CHECK(json_text(json_of(Value::symbol("9223372036854775808"))) == "9223372036854775808");
  CHECK(json_text(json_of(Value::symbol("1.5"))) == R"("1.5")");
  CHECK(json_text(json_of(Value::symbol(":\xff"))) == "\":\xef\xbf\xbd\"");
}

TEST_CASE("sets of integers as intervals") {
  const auto text = [](std::vector<std::int64_t> numbers) {
    std::vector<Value> values(numbers.begin(), numbers.end());
    return interval_set(values);
  };
  CHECK(text({}) == "#{}");
  CHECK(text({1}) == "#{1}");
  CHECK(text({-1, 0, 1, 3, 5, 6}) == "#{-1..1 3 5..6}");
  CHECK(interval_set({Value(1), Value::symbol(":a"), Value::symbol(":b")}) == "#{1 :a :b}");
}

}  // namespace
}  // namespace ordeal
