#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "report/html/escape.h"
#include "report/html/report.h"
#include "report_fixture.h"
#include "tests/support/temporary_directory.h"

namespace ordeal {
namespace {

using Catch::Matchers::Contains;

constexpr const char* kEvil = "</script></style></pre><script>alert('\"&1')</script>";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_CASE("text is escaped for content and attributes") {
  CHECK(html("<a href='x'>\"&</a>") == "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&lt;/a&gt;");
  CHECK(html("zß水🍌") == "zß水🍌");
  CHECK(html("a\x01"
             "b") ==
        "a\xEF\xBF\xBD"
        "b");
}

TEST_CASE("bytes that are no UTF-8 are replaced") {
  const std::string replacement = "\xEF\xBF\xBD";
  CHECK(html("\xff<") == replacement + "&lt;");
  CHECK(html("\xC3") == replacement);
  CHECK(html("\xC0\xBC") == replacement + replacement);                    // an overlong '<'
  CHECK(html("\xED\xA0\x80") == replacement + replacement + replacement);  // a surrogate
}

TEST_CASE("links are relative whatever the name") {
  CHECK(html_href("hosts/n1/postgres.log") == "./hosts/n1/postgres.log");
  CHECK(html_href("javascript:alert(1)") == "./javascript%3Aalert%281%29");
  CHECK(html_href("a\" onclick=\"x") == "./a%22%20onclick%3D%22x");
}

TEST_CASE("the page tells the run's story") {
  const std::string page = render_html(fixture::invalid_run(), fixture::write_skew());
  CHECK_THAT(page, Contains("not serializable: G2-item (12 times)"));
  CHECK_THAT(page, Contains("Violated: repeatable-read."));
  CHECK_THAT(page, Contains("The strongest that may still hold: snapshot-isolation."));
  CHECK_THAT(page, Contains("--seed 18446744073709551615</pre>"));
  CHECK_THAT(page, Contains("15.6"));
  CHECK_THAT(page, Contains("each missed the other&#39;s append"));
  CHECK_THAT(page, Contains("[:r 1 []] [:append :y 1]"));
  CHECK_THAT(page, Contains("during partition on n1"));
  CHECK_THAT(page, Contains("1.000 s to 1.200 s"));
  CHECK_THAT(page, Contains("n1 is cut off"));
  CHECK_THAT(page, Contains("href=\"./hosts/n1/postgres.log\""));
  CHECK_THAT(page, Contains("rw :y: 1"));
  CHECK(page == render_html(fixture::invalid_run(), fixture::write_skew()));
}

TEST_CASE("the page loads nothing from anywhere") {
  const std::string page = render_html(fixture::invalid_run(), fixture::write_skew());
  for (const char* loader : {"http:", "https:", "src=", "url(", "@import", "<link"}) {
    CAPTURE(loader);
    CHECK(count(page, loader) == 0);
  }
}

// A run in which every recorded text is hostile.
RunVerdict evil_run() {
  RunVerdict run = fixture::invalid_run();
  run.campaign = run.command = run.started = run.reason = kEvil;
  run.versions = {{kEvil, kEvil}};
  run.vacuity = run.log_files = {kEvil};
  Judgement& judgement = run.judgements.front();
  judgement.file = kEvil;
  judgement.warnings = {kEvil};
  CheckResult& result = judgement.result;
  result.checker = result.model = result.reason = kEvil;
  result.anomaly_types = result.anomaly_types_beyond = {kEvil};
  result.weakest_violated = result.all_violated = result.strongest_possible = {kEvil};
  Anomaly& anomaly = result.anomalies.front();
  anomaly.type = anomaly.explanation = kEvil;
  anomaly.models_violated = {kEvil};
  anomaly.operations = {8};
  anomaly.steps[0].edge = anomaly.steps[0].explanation = kEvil;
  anomaly.steps[0].key = anomaly.steps[1].next_value = Value::symbol(kEvil);
  run.judgements.push_back(judgement);
  return run;
}

History evil_history() {
  using namespace fixture;
  const Value key = Value::symbol(kEvil);
  HistoryBuilder builder;
  builder.add(fault(0, 0.1, Phase::invoke, FaultAction::inject, kEvil, {kEvil}, kEvil));
  for (std::uint64_t i = 1; i < 8; ++i) {
    builder.add(operation(i, static_cast<double>(i), 0, i % 2 == 1 ? Phase::invoke : Phase::ok,
                          Txn{{append(key, 1)}}, kEvil));
  }
  Operation last = operation(8, 9, 3, Phase::info, Opaque{kEvil}, kEvil);
  last.note = kEvil;
  builder.add(last);
  return std::move(builder).build();
}

TEST_CASE("nothing recorded reaches the page as markup") {
  const std::string clean = render_html(fixture::invalid_run(), fixture::write_skew());
  const std::string page = render_html(evil_run(), evil_history());
  CHECK(count(page, "&lt;script&gt;alert(") > 30);
  CHECK(count(page, "<script") == count(clean, "<script"));
  CHECK(count(page, "</script") == count(clean, "</script"));
  CHECK(count(page, "</style") == count(clean, "</style"));
  CHECK(count(page, "alert('") == 0);
}

TEST_CASE("the page's size is bounded") {
  RunVerdict run = fixture::invalid_run();
  auto& anomalies = run.judgements.front().result.anomalies;
  anomalies.front().explanation = std::string(100'000, '"');
  anomalies.resize(10'000, anomalies.front());
  HistoryBuilder builder;
  const std::vector<std::int64_t> elements(100'000, 7);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const Txn txn{{fixture::read(Value(1), i == 4 ? elements : std::vector<std::int64_t>())}};
    const Phase phase = i % 2 == 0 ? Phase::ok : Phase::invoke;
    builder.add(fixture::operation(i, static_cast<double>(i), 0, phase, txn));
  }
  const std::string page = render_html(run, std::move(builder).build());
  CHECK(page.size() < 2'000'000);
  CHECK_THAT(page, Contains("More examples are in the JSON verdict."));
}

TEST_CASE("a history without a run, and an empty one, give a page") {
  const Judgement judgement{"h.edn", fixture::write_skew_result(), 0, {}};
  const RunVerdict bare = bare_verdict(judgement, fixture::write_skew());
  CHECK(bare.outcomes.ok == 2);
  CHECK(bare.fault_counts.at("partition") == 1);
  const std::string page = render_html(bare, fixture::write_skew());
  CHECK_THAT(page, Contains("h.edn"));
  CHECK(count(page, "Reproduce") == 0);
  CHECK_THAT(render_html(RunVerdict(), History()), Contains("no checker judged the run"));
}

TEST_CASE("the file is replaced at once, and failure to write it is told") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "report.html";
  const History history = fixture::write_skew();
  REQUIRE(write_html(path, fixture::invalid_run(), history));
  REQUIRE(write_html(path, fixture::invalid_run(), history));
  std::ifstream file(path);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  CHECK(content == render_html(fixture::invalid_run(), history));
  const auto entries = std::filesystem::directory_iterator(directory.path());
  CHECK(std::distance(begin(entries), end(entries)) == 1);
  const Status status = write_html(directory.path() / "none" / "r.html", RunVerdict(), history);
  REQUIRE_FALSE(status);
  CHECK(status.error().kind == ErrorKind::surroundings);
  CHECK_THAT(status.error().message, Contains("No such file or directory"));
}

}  // namespace
}  // namespace ordeal
