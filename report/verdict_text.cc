#include "report/verdict_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/words.h"

namespace ordeal {
namespace {

constexpr std::size_t kListElementsMax = 12;
constexpr std::size_t kExplanationBytesMax = 4000;

std::string_view heading_of(Validity validity) {
  if (validity == Validity::valid) return "VALID";
  return validity == Validity::invalid ? "INVALID" : "UNKNOWN";
}

std::string sentence(Validity validity, std::string_view words, const TextStyle& style) {
  const std::string line = terminal_safe(fmt::format("{}: {}", heading_of(validity), words));
  if (!style.colour) return line + "\n";
  const int colour = validity == Validity::valid ? 32 : validity == Validity::invalid ? 31 : 33;
  return fmt::format("\x1b[1;{}m{}\x1b[0m\n", colour, line);
}

// "  label        text", nothing where there is no text.
std::string row(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("  {:<13}{}\n", label, terminal_safe(text));
}

std::string indented(std::string_view text, std::string_view indent) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    result += fmt::format("{}{}\n", indent, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result;
}

std::string anomaly_text(const Anomaly& anomaly) {
  const auto& models = anomaly.models_violated;
  const std::string rules_out = models.empty()
                                    ? ""
                                    : ", which " + joined(models, " and ") +
                                          (models.size() == 1 ? " rules out" : " rule out");
  const std::string words =
      shorten(shorten_lists(anomaly.explanation, kListElementsMax), kExplanationBytesMax);
  return fmt::format("\n  {}{}:\n{}", terminal_safe(anomaly.type), terminal_safe(rules_out),
                     indented(terminal_safe(words), "    "));
}

// One example of each type in words, as far as the limit allows.
class Examples {
 public:
  Examples(const CheckResult& result, std::size_t anomalies_max)
      : anomalies_(result.anomalies), shown_max_(anomalies_max) {}

  std::string of(const std::vector<std::string>& types) {
    std::string text;
    for (const std::string& type : types) {
      const auto example =
          std::find_if(anomalies_.begin(), anomalies_.end(),
                       [&](const Anomaly& anomaly) { return anomaly.type == type; });
      if (shown_ == shown_max_ || example == anomalies_.end()) continue;
      text += anomaly_text(*example);
      ++shown_;
    }
    return text;
  }

  std::string rest() const {
    const std::size_t left = anomalies_.size() - shown_;
    return left == 0 ? ""
                     : fmt::format("\n  {} more in the report and in the JSON verdict.\n", left);
  }

 private:
  const std::vector<Anomaly>& anomalies_;
  std::size_t shown_max_;
  std::size_t shown_ = 0;
};

// What the model rules out, then what is left of the models, then what was found besides.
std::string findings_in_words(const CheckResult& result, std::size_t anomalies_max) {
  Examples examples(result, anomalies_max);
  const auto& beyond = result.anomaly_types_beyond;
  std::vector<std::string> types = types_by_weight(result);
  std::erase_if(types, [&](const std::string& type) {
    return std::find(beyond.begin(), beyond.end(), type) != beyond.end();
  });
  std::string ruled_out = examples.of(types);
  const std::string allowed = examples.of(by_weight(beyond));
  if (beyond.empty()) ruled_out += examples.rest();
  std::string text = ruled_out.empty() ? "" : ruled_out + "\n";
  text += row("violated", joined(result.weakest_violated));
  text += row("may still be", joined(result.strongest_possible));
  if (beyond.empty()) return text;
  return text + row("also found", joined(by_weight(beyond))) + allowed + examples.rest() + "\n";
}

std::string findings(const Judgement& judgement, const TextStyle& style) {
  const CheckResult& result = judgement.result;
  std::string text = row("checker", result.checker);
  text += row("model", result.model);
  text += row("history", judgement.file);
  text +=
      row("checked", fmt::format("{} operations; transactions {}", with_commas(result.operations),
                                 outcomes_text(result.transactions)));
  for (const std::string& warning : judgement.warnings) text += row("warning", warning);
  return text + findings_in_words(result, style.anomalies_max);
}

std::string faults_text(const std::map<std::string, std::uint64_t>& counts) {
  std::vector<std::string> parts;
  for (const auto& [fault, count] : counts) {
    parts.push_back(fmt::format("{} {}", fault, times_found(count)));
  }
  return joined(parts);
}

std::string coverage_text(const std::vector<CoverageRow>& rows) {
  if (rows.empty()) return "";
  std::string text =
      fmt::format("  {:<13}{:<22}{:<18}{:<12}{:>6}{:>11}{:>16}\n", "coverage", "fault", "where",
                  "direction", "times", "active", "without effect");
  for (const CoverageRow& row : rows) {
    text +=
        fmt::format("  {:<13}{:<22}{:<18}{:<12}{:>6}{:>11}{:>16}\n", "", terminal_safe(row.fault),
                    terminal_safe(row.where), terminal_safe(row.direction), row.times,
                    seconds_text(row.total), row.without_effect);
  }
  return text;
}

}  // namespace

std::string verdict_sentence(const CheckResult& result) {
  return terminal_safe(fmt::format("{}: {}", heading_of(result.validity), verdict_words(result)));
}

std::string verdict_text(const Judgement& judgement, const TextStyle& style) {
  return sentence(judgement.result.validity, verdict_words(judgement.result), style) +
         findings(judgement, style);
}

std::string verdict_text(const RunVerdict& verdict, std::string_view report_path,
                         const TextStyle& style) {
  std::string text = sentence(verdict.overall, verdict_words(verdict), style);
  text += row("campaign", fmt::format("{}, seed {}", verdict.campaign, verdict.seed));
  text += row("duration", seconds_text(verdict.duration));
  text += row("operations", outcomes_text(verdict.outcomes));
  text += row("faults", faults_text(verdict.fault_counts));
  text += coverage_text(verdict.coverage);
  for (const std::string& finding : verdict.vacuity) text += row("vacuous", finding);
  for (const Judgement& judgement : verdict.judgements) {
    if (verdict.judgements.size() > 1) text += "\n  " + verdict_sentence(judgement.result) + "\n";
    text += findings(judgement, style);
  }
  text += row("report", report_path);
  text += row("reproduce", verdict.command);
  return text;
}

}  // namespace ordeal
