// Warnings about histories whose order cannot be right.
#include "history/order_warnings.h"

#include "support.h"

namespace ordeal {
namespace {

struct Made {
  std::uint64_t index;
  std::int64_t time_ns;
  std::int64_t process;
  Phase phase;
};

std::vector<std::string> warnings_of(const std::vector<Made>& made) {
  std::vector<Operation> operations;
  for (const auto& [index, time_ns, process, phase] : made) {
    operations.push_back(
        {index, std::chrono::nanoseconds(time_ns), ProcessId{process}, phase, "txn", Txn{}, ""});
  }
  return order_warnings(history_of(operations), "h");
}

constexpr auto kInvoke = Phase::invoke;
constexpr auto kOk = Phase::ok;
constexpr auto kInfo = Phase::info;

TEST_CASE("a history in order has no warnings, whatever the nemesis does and what stays open") {
  CHECK(warnings_of({}).empty());
  CHECK(warnings_of({{0, 5, 0, kInvoke},
                     {1, 5, 1, kInvoke},
                     {2, 6, 0, kInfo},
                     {3, 6, -1, kInfo},
                     {4, 7, -1, kInfo},
                     {5, 7, -1, kInvoke},
                     {6, 8, -1, kInvoke},
                     {7, 9, 0, kInvoke}})
            .empty());
}

TEST_CASE("completions without an open invocation") {
  const auto warnings = warnings_of(
      {{0, 0, 3, kOk}, {1, 1, 3, kInvoke}, {2, 2, 3, kOk}, {3, 3, 3, kInfo}, {4, 4, 4, kInfo}});
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "in the history h, 3 of 5 operations are completions without an open invocation, so its "
        "real-time order may be wrong; the first is operation 1 of the file (index 0, process 3)");
}

TEST_CASE("completions without any invocation say nothing of real time") {
  const auto warnings = warnings_of({{0, 0, 3, kOk}, {1, 1, 3, kOk}, {2, 2, 4, kInfo}});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::StartsWith("the history h has completions only"));
}

TEST_CASE("invocations by a process whose previous one is open") {
  const auto warnings = warnings_of({{10, 0, 3, kInvoke},
                                     {11, 1, 4, kInvoke},
                                     {12, 2, 3, kInvoke},
                                     {13, 3, 3, kInvoke},
                                     {14, 4, 3, kOk},
                                     {15, 5, 3, kInvoke}});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0],
             Catch::Contains("2 of 6 operations were invoked by a process whose previous "
                             "invocation was still open") &&
                 Catch::Contains("operation 3 of the file (index 12, process 3)"));
}

TEST_CASE("indices and times that go backwards") {
  const auto warnings =
      warnings_of({{5, 50, 0, kInvoke}, {4, 50, 0, kOk}, {6, 40, 0, kInvoke}, {7, 39, 0, kOk}});
  REQUIRE(warnings.size() == 2);
  CHECK_THAT(warnings[0], Catch::Contains("1 of 4 operations have a lower index") &&
                              Catch::Contains("operation 2 of the file (index 4,"));
  CHECK_THAT(warnings[1], Catch::Contains("2 of 4 operations have an earlier time") &&
                              Catch::Contains("operation 3 of the file (index 6,"));
}

TEST_CASE("read_history() adds them, and real histories have none") {
  for (const std::string name : {"strict-1", "duplicate-43", "long-fork-29"}) {
    CHECK(read_ok("tests/histories/" + name + ".edn").warnings.empty());
  }
  const TempDir directory;
  spit(directory / "h.edn", "{:process 0, :type :ok, :f :txn, :value []}");
  CHECK_THAT(read_ok(directory / "h.edn").warnings.at(0), Catch::Contains("h.edn, 1 of 1"));
}

}  // namespace
}  // namespace ordeal
