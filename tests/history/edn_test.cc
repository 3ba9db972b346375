// Jepsen's EDN: scanner, operations, messages.
#include "history/edn.h"

#include "history/formats.h"
#include "support.h"

namespace ordeal {
namespace {

std::string canonical(std::string_view text) {
  EdnScanner scanner(text);
  std::string out;
  if (!scanner.form(out)) return "failed: " + std::string(scanner.expected());
  return out;
}

struct File {
  TempDir directory;
  std::filesystem::path path = directory / "h.edn";
  explicit File(std::string_view text) { spit(path, text); }
};

std::vector<Operation> parsed(std::string_view text) {
  const auto read = read_edn(text, "h.edn");
  REQUIRE(read.has_value());
  CHECK(read->warnings.empty());
  return operations_of(read->history);
}

Payload payload_of(const std::string& function, const std::string& value) {
  return parsed("{:process 0, :type :ok, :f " + function + ", :value " + value + "}").at(0).payload;
}

TEST_CASE("forms have one canonical text") {
  CHECK(canonical("[1,2 ,  :a \"b\\\"c\" ; comment\n nil]") == "[1 2 :a \"b\\\"c\" nil]");
  CHECK(canonical("{:a 1 , :b [ ]}") == "{:a 1, :b []}");
  CHECK(canonical("#{1 #_ 2 3}") == "#{1 3}");
  CHECK(canonical("#inst  \"2020\"") == "#inst \"2020\"");
  CHECK(canonical("[\\a \\newline \\( +7 8N 1.5 ##Inf #\"re\"]") ==
        "[\\a \\newline \\( 7 8 1.5 ##Inf #\"re\"]");
  CHECK(canonical("[1") == "failed: expected the end of a collection");
  CHECK(canonical("]") == "failed: expected a value");
  CHECK(canonical(std::string(100'000, '[')) == "failed: expected fewer levels of nesting");
  std::string discards;
  for (int i = 0; i < 100'000; ++i) discards += "#_";
  CHECK_THAT(canonical(discards), Catch::StartsWith("failed"));
}

TEST_CASE("an operation in full") {
  const auto operations = parsed(
      "{:index 4, :time 77, :type :fail, :process 3, :f :txn, :value [[:r 1 [5 6]] [:append \"k\" "
      "7] "
      "[:r [:pg 2] nil] [:w :x 1.5] [:r 9 8]], :error [:conflict \"x\"], :extra {:ignored #{1}}}");
  REQUIRE(operations.size() == 1);
  const Operation& operation = operations[0];
  CHECK(operation.index == 4);
  CHECK(operation.time.count() == 77);
  CHECK(operation.process == ProcessId{3});
  CHECK(operation.phase == Phase::fail);
  CHECK(operation.function == "txn");
  CHECK(operation.note == "[:conflict \"x\"]");
  const Txn expected{
      {{MicroFunction::read, Value(1), Value(), std::vector{Value(5), Value(6)}},
       {MicroFunction::append, Value::symbol("\"k\""), Value(7), std::nullopt},
       {MicroFunction::read, Value::symbol("[:pg 2]"), Value(), std::nullopt},
       {MicroFunction::write, Value::symbol(":x"), Value::symbol("1.5"), std::nullopt},
       {MicroFunction::read, Value(9), Value(8), std::nullopt}}};
  CHECK(operation.payload == Payload(expected));
}

TEST_CASE("payloads are recognised by :f and shape") {
  CHECK(payload_of(":transfer", "{:to 2 :from 1, :amount 5}") ==
        Payload(Transfer{Value(1), Value(2), 5}));
  CHECK(payload_of(":transfer", "{:to 2 :from 1}") == Payload(Opaque{"{:to 2, :from 1}"}));
  CHECK(payload_of(":read", "{1 10, 0 -5}") ==
        Payload(Balances{{{{Value(0), -5}, {Value(1), 10}}}}));
  CHECK(payload_of(":read", "nil") == Payload(Balances{}));
  CHECK(payload_of(":read", "7") == Payload(Opaque{"7"}));
  CHECK(payload_of(":txn", "[]") == Payload(Txn{}));
  CHECK(payload_of(":txn", "nil") == Payload(Opaque{"nil"}));
  CHECK(payload_of(":cas", "[[:cas 1 2]]") == Payload(Opaque{"[[:cas 1 2]]"}));
  CHECK(payload_of(":add", "[[:append 1]]") == Payload(Opaque{"[[:append 1]]"}));
  CHECK(payload_of(":stop", "{:fault \"kill\", :action :heal, :hosts [\"n1\"]}") ==
        Payload(FaultEvent{"kill", FaultAction::heal, {"n1"}, ""}));
  CHECK(payload_of(":add", "[1 (2) #{3}]") == Payload(Opaque{"[1 (2) #{3}]"}));
}

TEST_CASE(
    "a file may be lines, a vector, tagged, commented, with any line end and a byte-order mark") {
  const std::string op = "{:type :invoke, :process 0, :f :txn, :value [[:r 1 nil]]}";
  const std::string tagged = "#jepsen.history.Op" + op;
  const std::string expected_by[] = {
      op + "\n" + op,
      "[" + op + "\n " + op + "]\n",
      "\xef\xbb\xbf; a comment\r\n" + op + "\r\n\r\n" + op + "\r\n",
      tagged + "\n" + tagged + "\n",
      "#jepsen.history.DenseHistory [" + tagged + "," + tagged + "]",
      "(" + op + op + ")",
      "#_ {:not [this]} " + op + " ; and\n#_#_ 1 2 " + op,
  };
  for (const auto& text : expected_by) {
    CAPTURE(text);
    const auto operations = parsed(text);
    REQUIRE(operations.size() == 2);
    CHECK(operations[1].index == 1);
    CHECK(operations[1].phase == Phase::invoke);
  }
}

TEST_CASE("the nemesis, and what may be missing") {
  const auto operations =
      parsed("{:process :nemesis, :type :info, :f :start, :index nil, :time nil}");
  CHECK(operations.at(0).process == kNemesis);
  CHECK(operations.at(0).payload == Payload(Opaque{"nil"}));
  CHECK(parsed("[]").empty());
}

TEST_CASE("mistakes are named with file, line and what was expected") {
  const std::string good = "{:process 0, :type :ok, :f :txn, :value nil}\n";
  const auto error = [&](const std::string& bad) {
    const File file(good + bad + "\n" + good);
    std::string message = read_error(file.path);
    return message.substr(message.find("h.edn"));
  };
  CHECK(error("{:process 0, :type :okay}") ==
        "h.edn:2: expected :invoke, :ok, :fail or :info, found `:okay}`");
  CHECK(error("{:process x, :type :ok}") ==
        "h.edn:2: expected an integer of 64 bits, found `x, :type :ok}`");
  CHECK(error("{:process :nemsis, :type :ok}") ==
        "h.edn:2: expected a process number or :nemesis, found `:nemsis, :type :ok}`");
  CHECK(error("{:process 0}") ==
        "h.edn:2: expected an operation with a :type, found `{:process 0}`");
  CHECK(error("{:type :ok}") ==
        "h.edn:2: expected an operation with a :process, found `{:type :ok}`");
  CHECK(error("{:process 0, :type :ok, :value ]}") == "h.edn:2: expected a value, found `]}`");
  CHECK(error("17") == "h.edn:2: expected {, found `17`");
}

TEST_CASE("a :txn whose value is a vector must be a transaction") {
  const std::string expected =
      "h.edn:2: expected [:r key value], [:append key value] or [:w key value] in a :txn, found `";
  for (const std::string bad : {"[:append 1]", "[:append 1 2 3]", "[:cas 1 2]", "[:r 1 [2 3] 4]",
                                "[\"r\" 1 2]", "[]", "17"}) {
    CAPTURE(bad);
    const File file(
        "{:process 0, :type :ok, :f :txn, :value [[:w 1 2]]}\n"
        "{:process 0, :type :ok, :value [[:w 1 2]  " +
        bad + " [:r 1 2]], :f :txn}\n");
    const std::string message = read_error(file.path);
    CHECK_THAT(message, Catch::Contains(expected + bad + " [:r"));
  }
}

TEST_CASE("a file cut at any byte keeps the operations before the cut, with a warning") {
  const std::string text = slurp("tests/histories/duplicate-43.edn");
  const auto all = parsed(text);
  for (std::size_t size = 1; size < text.size(); ++size) {
    CAPTURE(size);
    const auto lines =
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n');
    const bool whole_line = text[size] == '\n';
    auto result = read_edn(std::string_view(text).substr(0, size), "h.edn");
    REQUIRE(result.has_value());
    const ReadHistory read = *std::move(result);
    const auto kept = static_cast<std::size_t>(lines) + (whole_line ? 1 : 0);
    REQUIRE(read.history.size() == kept);
    CHECK(read.warnings.size() == (whole_line || text[size - 1] == '\n' ? 0 : 1));
    if (kept > 0) CHECK(operations_of(read.history).back() == all[kept - 1]);
    if (kept == all.size()) break;
  }
}

TEST_CASE("random damage to EDN never does harm") {
  const std::string good = slurp("tests/histories/strict-1.edn");
  Random random(31);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = good;
    for (std::uint64_t i = 0; i <= random.below(4); ++i) {
      bytes[random.below(bytes.size())] = "[]{}()\"\\#_;:,^ \nx7"[random.below(19)];
    }
    refused += read_edn(bytes, "h.edn").has_value() ? 0 : 1;
  }
  CHECK(refused > 100);
}

}  // namespace
}  // namespace ordeal
