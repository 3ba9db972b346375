#include "report/verdict_text.h"

#include <catch2/catch.hpp>

#include "report_fixture.h"

namespace ordeal {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("the first sentence says what was found") {
  CheckResult result = fixture::write_skew_result();
  CHECK(verdict_sentence(result) == "INVALID: not serializable: G2-item (12 times)");
  result.validity = Validity::unknown;
  result.reason = "stopped after 60 s";
  CHECK(verdict_sentence(result) == "UNKNOWN: stopped after 60 s");
  result.validity = Validity::valid;
  CHECK(verdict_sentence(result) ==
        "VALID: nothing found that serializable rules out, in 8 operations");
}

TEST_CASE("checkers without a model speak for themselves") {
  CheckResult result;
  result.checker = "bank";
  result.validity = Validity::invalid;
  result.anomaly_types = {"wrong-total"};
  CHECK(verdict_sentence(result) == "INVALID: bank: wrong-total");
}

TEST_CASE("a run's text has the whole story in order") {
  CHECK(verdict_text(fixture::invalid_run(), "store/r/report.html", {}) ==
        R"(INVALID: not serializable: G2-item (12 times)
  campaign     quickstart, seed 18446744073709551615
  duration     2.500 s
  operations   2 ok, 0 fail, 0 info
  faults       partition once
  checker      list-append
  model        serializable
  history      history.ohist
  checked      8 operations; transactions 2 ok, 0 fail, 0 info

  G2-item, which repeatable-read rules out:
    Let T1 and T2 be as below; each missed the other's append: a contradiction!

  violated     repeatable-read
  may still be snapshot-isolation
  report       store/r/report.html
  reproduce    ordeal run campaigns/quickstart.yaml --seed 18446744073709551615
)");
}

TEST_CASE("what the model allows comes behind what was found besides") {
  Judgement judgement{"h.edn", fixture::write_skew_result(), 0, {}};
  CheckResult& result = judgement.result;
  result.validity = Validity::valid;
  result.model = "snapshot-isolation";
  result.anomaly_types.clear();
  result.anomaly_types_beyond = {"G-single-item-realtime", "G2-item"};
  CHECK(verdict_text(judgement, {}) ==
        R"(VALID: nothing found that snapshot-isolation rules out, in 8 operations
  checker      list-append
  model        snapshot-isolation
  history      h.edn
  checked      8 operations; transactions 2 ok, 0 fail, 0 info
  violated     repeatable-read
  may still be snapshot-isolation
  also found   G2-item, G-single-item-realtime

  G2-item, which repeatable-read rules out:
    Let T1 and T2 be as below; each missed the other's append: a contradiction!

)");
  result.anomalies.front().models_violated = {"consistent-view", "repeatable-read"};
  CHECK_THAT(verdict_text(judgement, {}),
             Contains("  G2-item, which consistent-view and repeatable-read rule out:\n"));
}

TEST_CASE("vacuity decides over a checker that found nothing") {
  RunVerdict run = fixture::invalid_run();
  run.overall = Validity::unknown;
  run.reason = "the run tested too little";
  run.judgements.front().result.validity = Validity::valid;
  run.vacuity = {"nothing was committed in the second half"};
  const std::string text = verdict_text(run, "", {});
  CHECK_THAT(text, Catch::Matchers::StartsWith("UNKNOWN: the run tested too little\n"));
  CHECK_THAT(text, Contains("vacuous      nothing was committed in the second half"));
}

TEST_CASE("the text is bounded, and recorded control characters are shown") {
  RunVerdict run = fixture::invalid_run();
  auto& anomalies = run.judgements.front().result.anomalies;
  anomalies.front().explanation = "\x1b[2J" + std::string(1'000'000, 'x');
  anomalies.resize(1000, anomalies.front());
  const std::string text = verdict_text(run, "", {});
  CHECK(text.size() < 6000);
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK_THAT(text, Contains("999 more in the report"));
}

TEST_CASE("colour is for the first line only") {
  TextStyle style;
  style.colour = true;
  const std::string text = verdict_text(fixture::invalid_run(), "", style);
  CHECK_THAT(text, Catch::Matchers::StartsWith("\x1b[1;31mINVALID"));
  CHECK(text.rfind('\x1b') < text.find('\n'));
}

}  // namespace
}  // namespace ordeal
