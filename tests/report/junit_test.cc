#include "report/junit.h"

#include <catch2/catch.hpp>

#include "report_fixture.h"

namespace ordeal {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("an invalid verdict is a failure, with what was found and how to reproduce it") {
  const std::string xml = verdict_junit(fixture::invalid_run());
  CHECK_THAT(xml, Contains("name=\"quickstart\" tests=\"2\" failures=\"1\" errors=\"0\""));
  CHECK_THAT(xml, Contains("<failure message=\"not serializable: G2-item (12 times)\">"));
  CHECK_THAT(xml, Contains("reproduce: ordeal run campaigns/quickstart.yaml --seed"));
}

TEST_CASE("unknown and vacuous are errors, valid passes") {
  RunVerdict run = fixture::invalid_run();
  run.judgements.front().result.validity = Validity::valid;
  CHECK_THAT(verdict_junit(run), Contains("failures=\"0\" errors=\"0\""));
  run.vacuity = {"nothing was committed"};
  CHECK_THAT(verdict_junit(run), Contains("failures=\"0\" errors=\"1\""));
  run.judgements.front().result.validity = Validity::unknown;
  CHECK_THAT(verdict_junit(run), Contains("failures=\"0\" errors=\"2\""));
}

TEST_CASE("XML is escaped") {
  RunVerdict run = fixture::invalid_run();
  run.campaign = "<\"a\x02\">";
  CHECK_THAT(verdict_junit(run), Contains("name=\"&lt;&quot;a\xEF\xBF\xBD&quot;&gt;\""));
}

}  // namespace
}  // namespace ordeal
