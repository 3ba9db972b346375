// Every format gives back what was written, and conversions can be chained.
#include "history/order_warnings.h"
#include "history/writer.h"
#include "support.h"

namespace ordeal {
namespace {

constexpr const char* kExtensions[] = {".ohist", ".edn", ".json", ".jsonl"};

HistoryHeader some_header() {
  HistoryHeader header;
  header.campaign = "quickstart";
  header.seed = 0xffffffffffffffffU;
  header.start_time =
      std::chrono::system_clock::time_point(std::chrono::nanoseconds(1'700'000'000'123'456'789));
  header.command = "ordeal run c.yaml --seed 7";
  header.ordeal_version = "0.1.0";
  header.facts = {{"target", "postgres 15"}, {"isolation", "serializable"}};
  header.unknown_fields = std::string("\xa2\x06\x02hi", 5);  // field 100, a string
  return header;
}

TEST_CASE("histories survive every format and chains of them") {
  const TempDir directory;
  const auto random = history_of(random_operations(Random(41), 500));
  std::vector<std::pair<std::string, History>> histories;
  for (const std::string name :
       {"duplicate-43", "long-fork-29", "strict-1", "rw-register-strict-1"}) {
    histories.emplace_back(name, read_ok("tests/histories/" + name + ".edn").history);
    CHECK(histories.back().second.size() > 10);
  }
  histories.emplace_back("random", random);
  for (std::uint64_t seed = 400; seed < 420; ++seed) {
    histories.emplace_back("random " + std::to_string(seed),
                           history_of(random_operations(Random(seed), 200)));
  }
  histories.emplace_back("empty", History());
  for (const auto& [name, original] : histories) {
    const auto expected = operations_of(original);
    History history = original;
    for (const std::string extension : kExtensions) {
      CAPTURE(name, extension);
      const auto path = directory / ("h" + extension);
      REQUIRE(write_history(path, history, some_header()).has_value());
      ReadHistory read = read_ok(path);
      if (!expected.empty()) {
        CHECK(read.warnings == order_warnings(read.history, path.string()));
      }
      CHECK(operations_of(read.history) == expected);
      history = std::move(read.history);
    }
  }
}

TEST_CASE("EDN is written as Jepsen prints it") {
  const TempDir directory;
  const std::string original = slurp("tests/histories/strict-1.edn");
  REQUIRE(write_history(directory / "h.edn", read_ok("tests/histories/strict-1.edn").history, {})
              .has_value());
  CHECK(slurp(directory / "h.edn") == original);
}

TEST_CASE("the header survives, with the fields of a newer version") {
  const TempDir directory;
  const auto path = directory / "h.ohist";
  REQUIRE(
      write_history(path, history_of(random_operations(Random(42), 5)), some_header()).has_value());
  const HistoryHeader read = read_ok(path).header;
  const HistoryHeader expected = some_header();
  CHECK(read.format_version == 1);
  CHECK(read.campaign == expected.campaign);
  CHECK(read.seed == expected.seed);
  CHECK(read.start_time == expected.start_time);
  CHECK(read.command == expected.command);
  CHECK(read.ordeal_version == expected.ordeal_version);
  CHECK(read.facts == expected.facts);
  CHECK(read.unknown_fields == expected.unknown_fields);
}

TEST_CASE("a history that is replaced stays until the new one is whole") {
  const TempDir directory;
  spit(directory / "h.edn", "old");
  const auto history = history_of(random_operations(Random(43), 5));
  CHECK(write_history(directory / "h.txt", history, {}).error().kind == ErrorKind::bad_input);
  CHECK(write_history(directory / "none/h.edn", history, {}).error().kind ==
        ErrorKind::surroundings);
  CHECK(slurp(directory / "h.edn") == "old");
  REQUIRE(write_history(directory / "h.edn", history, {}).has_value());
  CHECK(read_ok(directory / "h.edn").history.size() == 5);
  CHECK_FALSE(std::filesystem::exists(directory / "h.edn.partial"));
}

}  // namespace
}  // namespace ordeal
