// --repair: what is changed, and that it is said.
#include "history/repair.h"

#include "history/formats.h"
#include "support.h"

namespace ordeal {
namespace {

ReadHistory repair(const std::string& text) {
  auto read = read_bytes(text, "h.edn", {"edn", true});
  INFO((read ? "" : read.error().message));
  REQUIRE(read.has_value());
  return *std::move(read);
}

std::string op(const std::string& phase, int process, const std::string& value,
               const std::string& more = "") {
  return "{:type :" + phase + ", :process " + std::to_string(process) + ", :f :txn, :value " +
         value + more + "}\n";
}

std::vector<std::int64_t> processes(const History& history) {
  std::vector<std::int64_t> found;
  for (const Event& event : history.events()) found.push_back(event.process.value);
  return found;
}

TEST_CASE("a history in order is not touched") {
  const std::string text = slurp("tests/histories/strict-1.edn");
  const ReadHistory read = repair(text);
  CHECK(read.warnings.empty());
  CHECK_FALSE(read.damaged);
  CHECK(operations_of(read.history) == operations_of(read_edn(text, "h.edn")->history));
}

TEST_CASE("indexes that are different but in disorder give the order") {
  const ReadHistory read = repair(op("ok", 0, "[[:append 1 1]]", ", :index 9") +
                                  op("invoke", 0, "[[:append 1 1]]", ", :index 4"));
  REQUIRE(read.warnings.size() == 1);
  CHECK(read.warnings[0] ==
        "in the history h.edn, 2 of 2 operations were put into the order of their indexes, and "
        "all were numbered anew; the first is operation 2 of the file (index 4, process 0)");
  CHECK(read.history.event(0).phase == Phase::invoke);
  CHECK(read.history.event(0).partner == 1);
  CHECK(read.history.event(1).index == 1);
}

TEST_CASE("indexes that are used twice are numbered anew, in the order of the file") {
  const ReadHistory read = repair(op("invoke", 0, "[[:append 1 1]]", ", :index 4") +
                                  op("invoke", 1, "[[:append 1 2]]", ", :index 4") +
                                  op("ok", 0, "[[:append 1 1]]", ", :index 3"));
  REQUIRE(read.warnings.size() == 1);
  CHECK_THAT(read.warnings[0], Catch::Contains("index that is used twice") &&
                                   Catch::Contains("operation 2 of the file"));
  CHECK(read.history.event(2).index == 2);
}

TEST_CASE("a completion of something else is dropped, and its process is new from there on") {
  const std::string text = op("invoke", 0, "[[:append 1 1]]") + op("ok", 0, "[[:append 2 1]]") +
                           op("invoke", 0, "[[:append 1 2]]") + op("ok", 0, "[[:append 1 2]]");
  CHECK_FALSE(read_edn(text, "h.edn").has_value());
  const ReadHistory read = repair(text);
  CHECK(read.damaged);
  CHECK(processes(read.history) == std::vector<std::int64_t>{0, 1, 1});
  CHECK(read.history.event(0).partner == kNoPosition);
  CHECK(read.history.event(1).partner == 2);
  REQUIRE(read.warnings.size() == 2);
  CHECK_THAT(read.warnings[0], Catch::Contains("1 of 4 operations were dropped: completions of "
                                               "something else") &&
                                   Catch::Contains("operation 2 of the file"));
  CHECK_THAT(read.warnings[1],
             Catch::Contains("each has a new number from there on, 1 in place of 0;") &&
                 Catch::Contains("operation 3 of the file"));
}

TEST_CASE("completions without invocation stay if they say something") {
  const ReadHistory read = repair(op("info", 3, "nil") + op("ok", 3, "[[:append 1 1]]") +
                                  op("fail", 4, "[]") + op("invoke", 3, "[[:append 1 2]]"));
  CHECK(read.history.size() == 2);
  CHECK_THAT(read.warnings.at(0), Catch::Contains("2 of 4 operations were dropped: completions "
                                                  "without invocation and value"));
}

TEST_CASE("the nemesis and histories of completions only are left as they are") {
  const std::string text =
      "{:type :info, :process :nemesis, :f :start}\n{:type :info, :process :nemesis, :f :x}\n";
  CHECK(repair(text).history.size() == 2);
  CHECK(repair(text).warnings.empty());
  const auto plume = read_bytes("w(1,2,0,1)\nr(1,2,0,2)\n", "h", {"auto", true});
  REQUIRE(plume.has_value());
  CHECK(plume->history.size() == 2);
}

}  // namespace
}  // namespace ordeal
