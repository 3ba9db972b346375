#include "report/junit.h"

#include <fmt/format.h>

#include "report/html/escape.h"
#include "report/words.h"

namespace ordeal {
namespace {

constexpr std::size_t kTextBytesMax = 20'000;

// `verdict` is the child of a test case that did not pass; "" where it did.
std::string test_case(const RunVerdict& run, const std::string& name, double seconds,
                      const std::string& verdict) {
  return fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\">{}</testcase>\n",
                     html(run.campaign), html(name), seconds, verdict);
}

std::string child(const char* tag, const std::string& message, const std::string& text) {
  return fmt::format("\n      <{0} message=\"{1}\">{2}</{0}>\n    ", tag, html(message),
                     html(shorten(text, kTextBytesMax)));
}

std::string verdict_of(const RunVerdict& run, const CheckResult& result) {
  if (result.validity == Validity::valid) return "";
  std::string text;
  for (const Anomaly& anomaly : result.anomalies) {
    text += anomaly.type + ": " + shorten_lists(anomaly.explanation, 20) + "\n";
  }
  text += "reproduce: " + run.command;
  return child(result.validity == Validity::invalid ? "failure" : "error", verdict_words(result),
               text);
}

}  // namespace

std::string verdict_junit(const RunVerdict& verdict) {
  std::string cases;
  int failures = 0;
  int errors = verdict.vacuity.empty() ? 0 : 1;
  for (const Judgement& judgement : verdict.judgements) {
    const CheckResult& result = judgement.result;
    failures += result.validity == Validity::invalid ? 1 : 0;
    errors += result.validity == Validity::unknown ? 1 : 0;
    cases += test_case(verdict, result.checker, result.check_seconds, verdict_of(verdict, result));
  }
  cases += test_case(verdict, "vacuity", 0,
                     verdict.vacuity.empty() ? ""
                                             : child("error", "the run tested too little",
                                                     joined(verdict.vacuity, "\n")));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"{:.3f}\" "
      "timestamp=\"{}\">\n{}  </testsuite>\n</testsuites>\n",
      html(verdict.campaign), verdict.judgements.size() + 1, failures, errors,
      static_cast<double>(verdict.duration.count()) / 1000.0, html(verdict.started), cases);
}

}  // namespace ordeal
