// Long EDN files, which are parsed in parts on several threads: the parts' borders must not show.
#include "history/formats.h"
#include "support.h"

namespace ordeal {
namespace {

constexpr std::size_t kBytes = std::size_t{5} << 20U;

// Operations in every layout, with what looks like the start of one in strings, comments,
// discarded forms and nested maps.
class LongFile {
 public:
  explicit LongFile(std::uint64_t seed) : random_(seed) {
    while (text.size() < kBytes) add();
  }

  std::string text;
  std::vector<std::string> values;  // of each operation, canonical

 private:
  void add() {
    const std::string number = std::to_string(values.size());
    std::string value = number;
    std::string shown = number;
    switch (random_.below(7)) {
      case 0:
        shown = "[" + number + "\n{:type :ok, :process 7}\n]";
        value = "[" + number + " {:type :ok, :process 7}]";
        break;
      case 1:
        shown = value = "\"\\n{:type " + number + "\"";
        break;
      case 2:
        text += "; a comment {:type :ok}\n;\n{";
        text.pop_back();
        break;
      case 3:
        text += "#_\n{:type :ok, :process 3}\n";
        break;
      case 4:
        text += "#jepsen.history.Op\n";
        break;
      default:
        break;
    }
    if (random_.chance(1e-4)) {  // longer than a part
      shown = "[";
      for (int i = 0; i < 100'000; ++i) shown += "\n{:type :ok}  ";
      value = "";
    }
    text +=
        "{:type :ok, :process 1, :f :x, :value " + shown + "}" + (random_.chance(0.9) ? "\n" : " ");
    if (value.empty()) {
      text.insert(text.rfind('}'), "]");
    }
    values.push_back(value);
  }

  Random random_;
};

void check_values(const LongFile& file, const History& history) {
  REQUIRE(history.size() == file.values.size());
  for (Position at = 0; at < history.size(); ++at) {
    const auto& payload = std::get<Opaque>(history.payload(history.event(at)));
    const bool same = file.values[at].empty() || payload.edn == file.values[at];
    if (same && history.event(at).index == at) continue;
    FAIL("operation " << at << " is " << payload.edn << ", not " << file.values[at]);
  }
}

TEST_CASE("a long file is read as if in one piece") {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    CAPTURE(seed);
    const LongFile file(seed);
    for (const auto& text : {file.text, " [ " + file.text + " ]\n", "; x\n\n" + file.text}) {
      const auto read = read_edn(text, "h.edn");
      INFO((read ? "" : read.error().message.substr(0, 300)));
      REQUIRE(read.has_value());
      CHECK(read->warnings.empty());
      check_values(file, read->history);
    }
  }
}

TEST_CASE("in a long file, mistakes and cuts have their place") {
  const std::string line =
      "{:type :ok, :process 1, :f :x, :value \"" + std::string(50, 'x') + "\"}\n";
  std::string text;
  for (int i = 0; i < 40'000; ++i) text += line;
  const auto error = [](const std::string& bad) {
    const auto read = read_edn(bad, "h.edn");
    REQUIRE_FALSE(read.has_value());
    return read.error().message;
  };
  CHECK(error(text + "{:type :okay}\n" + text) ==
        "h.edn:40001: expected :invoke, :ok, :fail or :info, found `:okay}`");
  // An unclosed string swallows the rest of the file up to the next quote.
  CHECK_THAT(error(text + "{:type :ok :error \"\n" + text),
             Catch::StartsWith("h.edn:40001: expected the end of the operation that begins here"));
  const auto cut = read_edn(text + line.substr(0, 60), "h.edn");
  REQUIRE(cut.has_value());
  CHECK(cut->history.size() == 40'000);
  CHECK_THAT(cut->warnings.at(0), Catch::Contains("line 40001"));
  const auto open = read_edn("[" + text, "h.edn");
  CHECK_THAT(open->warnings.at(0), Catch::Contains("is not closed"));
  CHECK_THAT(error("[" + text + "]" + text), Catch::Contains("expected nothing after the vector"));
}

}  // namespace
}  // namespace ordeal
