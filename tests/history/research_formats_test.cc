// The formats of research checkers: Plume's text and dbcop's JSON.
#include "support.h"

namespace ordeal {
namespace {

struct File {
  TempDir directory;
  std::filesystem::path path = directory / "h";
  explicit File(std::string_view text) { spit(path, text); }
  std::string error(std::string_view format = "auto") const {
    const std::string message = read_error(path, format);
    return message.substr(message.find("/h") + 1);
  }
};

MicroOp op(MicroFunction function, std::int64_t key, Value value) {
  return {function, Value(key), value, std::nullopt};
}
MicroOp w(std::int64_t key, std::int64_t value) {
  return op(MicroFunction::write, key, Value(value));
}
MicroOp r(std::int64_t key, std::int64_t value) {
  return op(MicroFunction::read, key, Value(value));
}
MicroOp r_initial(std::int64_t key) { return op(MicroFunction::read, key, Value()); }

Operation txn(std::uint64_t index, std::int64_t session, std::vector<MicroOp> ops,
              Phase phase = Phase::ok) {
  return {index, {}, ProcessId{session}, phase, "txn", Txn{std::move(ops)}, ""};
}

TEST_CASE("Plume: lines of sessions that alternate become transactions in session order") {
  const File file(
      "w(1,10,0,100)\n"
      "r(2,0,7,200)\n"
      "w(2,20,0,100)\r\n"
      "\n"
      "r(1,10,7,200)\n"
      "w(3,30,7,-1)\n"
      "r(3,0,0,101)\n"
      "w(4,0,7,201)\n"
      "r(4,0,0,101)");
  const ReadHistory read = read_ok(file.path);
  CHECK(operations_of(read.history) ==
        std::vector{txn(0, 0, {w(1, 10), w(2, 20)}), txn(1, 7, {r_initial(2), r(1, 10)}),
                    txn(2, 7, {w(3, 30)}, Phase::fail), txn(3, 0, {r_initial(3), r(4, 0)}),
                    txn(4, 7, {w(4, 0)})});
  REQUIRE(read.warnings.size() == 1);
  CHECK_THAT(read.warnings[0], Catch::Contains("completions only"));
}

TEST_CASE("Plume: mistakes and cuts are named") {
  const auto error = [](const std::string& line) {
    return File("w(1,10,0,100)\n" + line + "\nr(1,10,0,101)\n").error();
  };
  CHECK(error("x(1,2,3,4)") == "h:2: expected r( or w(, found `x(1,2,3,4)`");
  CHECK(error("w(1,a,3,4)") == "h:2: expected an integer of 64 bits, found `w(1,a,3,4)`");
  CHECK(error("w(1,99999999999999999999,3,4)").starts_with("h:2: expected an integer of 64 bits"));
  CHECK(error("w(1,2,3)") == "h:2: expected four integers, separated by commas, found `w(1,2,3)`");
  CHECK(error("w(1,2,3,4,5)") == "h:2: expected ), found `w(1,2,3,4,5)`");
  CHECK(error("w(1,2,3,4) x") == "h:2: expected the end of the line, found `w(1,2,3,4) x`");
  const ReadHistory cut = read_ok(File("w(1,10,0,100)\nr(1,1").path);
  CHECK(cut.history.size() == 1);
  CHECK_THAT(cut.warnings.at(0), Catch::Contains("ends within line 2"));
}

const std::string kSessions =
    R"([[{"events":[{"Write":{"variable":0,"version":1}},{"Read":{"variable":1,"version":null}}],)"
    R"("committed":true},{"events":[{"Write":{"variable":1,"version":7}}],"committed":false}],)"
    R"([{"events":[{"Read":{"variable":0,"version":1}},{"Read":{"version":0,"variable":5}}],)"
    R"("committed":true}]])";

TEST_CASE("dbcop: sessions, bare and as the data of a whole file") {
  const std::vector expected{txn(0, 0, {w(0, 1), r_initial(1)}), txn(1, 0, {w(1, 7)}, Phase::fail),
                             txn(2, 1, {r(0, 1), r(5, 0)})};
  CHECK(operations_of(read_ok(File(kSessions).path).history) == expected);
  const std::string whole =
      R"({"params":{"id":0,"n_node":2},"info":"generated","start":"2025","data":)" + kSessions +
      R"(,"end":"2025"})";
  CHECK(operations_of(read_ok(File(whole).path).history) == expected);
  CHECK(read_ok(File("\xef\xbb\xbf" + kSessions + "\r\n").path).history.size() == 3);
}

TEST_CASE("dbcop: the form of its first version, where registers are 0 at first") {
  const File file(R"({"data":[[{"events":[{"write":true,"variable":3,"value":4,"success":true},)"
                  R"({"write":false,"variable":9,"value":0,"success":true},)"
                  R"({"write":false,"variable":8,"value":5,"success":false},)"
                  R"({"write":true,"variable":3,"value":6,"success":false}],"success":true}]]})");
  CHECK(operations_of(read_ok(file.path, "dbcop").history) ==
        std::vector{txn(0, 0, {w(3, 4), r_initial(9)}), txn(1, 0, {w(3, 6)}, Phase::fail)});
}

TEST_CASE("dbcop: mistakes and cuts are named") {
  CHECK(File(R"({"data":[[{"events":[{"Write":{"variable":0}}]}]]})").error() ==
        "h:1: expected an event with what it does, a variable and a version, found `]}]]}` "
        "(byte 46)");
  CHECK_THAT(File(R"([[{"events":[{"Write":{"variable":[0],"version":1}}]}]])").error(),
             Catch::StartsWith("h:1: expected a number, a string or null, found `[0]"));
  CHECK_THAT(File(R"([[{"events":[],"committed":1}]])").error(),
             Catch::StartsWith("h:1: expected true or false, found `1}]]`"));
  CHECK_THAT(File(R"({"info":"x"})").error(), Catch::Contains("expected an object with \"data\""));
  CHECK_THAT(File(kSessions + " x").error(), Catch::Contains("expected nothing behind"));
  for (std::size_t size = 2; size < kSessions.size(); ++size) {
    CAPTURE(size);
    const ReadHistory read = read_ok(File(kSessions.substr(0, size)).path, "dbcop");
    CHECK(read.history.size() <= 3);
    CHECK_THAT(read.warnings.at(0), Catch::Contains("ends before its sessions do"));
  }
}

}  // namespace
}  // namespace ordeal
