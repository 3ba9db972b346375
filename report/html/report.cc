#include "report/html/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "report/facts.h"
#include "report/html/anomalies.h"
#include "report/html/escape.h"
#include "report/html/plots.h"
#include "report/html/style.h"
#include "report/words.h"

namespace ordeal {
namespace {

constexpr std::size_t kSpansListedMax = 200;
constexpr std::size_t kLogsListedMax = 200;

std::string heading(std::string_view text) { return fmt::format("<h2>{}</h2>\n", text); }

// A row of the table of facts; nothing where there is nothing to say.
std::string fact(std::string_view name, const std::string& text) {
  if (text.empty()) return "";
  return fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html(text));
}

std::string top(const RunVerdict& verdict) {
  std::string words = verdict_words(verdict);
  const std::string_view name = validity_name(verdict.overall);
  std::string text = fmt::format(
      "<header class=\"verdict {0}\"><h1><span class=\"word\">{1}</span>{2}</h1>\n", name,
      name == "valid"     ? "VALID"
      : name == "invalid" ? "INVALID"
                          : "UNKNOWN",
      html(words));
  if (!verdict.judgements.empty()) {
    const CheckResult& result = verdict.judgements.front().result;
    if (!result.weakest_violated.empty()) {
      text += fmt::format("<p>Violated: {}.</p>\n", html(joined(result.weakest_violated, " and ")));
    }
    if (!result.strongest_possible.empty()) {
      text += fmt::format("<p>The strongest that may still hold: {}.</p>\n",
                          html(joined(result.strongest_possible, " or ")));
    }
  }
  for (const std::string& finding : verdict.vacuity) {
    text += fmt::format("<p class=\"warning\">Tested too little: {}</p>\n", html(finding));
  }
  for (const Judgement& judgement : verdict.judgements) {
    for (const std::string& warning : judgement.warnings) {
      text += fmt::format("<p class=\"warning\">{}</p>\n", html(warning));
    }
  }
  return text + "</header>\n";
}

std::string command(const RunVerdict& verdict) {
  if (verdict.command.empty()) return "";
  return fmt::format(
      "<h2>Reproduce</h2>\n<div class=\"copy\"><pre id=\"command\">{}</pre>"
      "<button id=\"copy\" type=\"button\">Copy</button></div>\n",
      html(verdict.command));
}

std::string run_facts(const RunVerdict& verdict, const HistoryFacts& facts) {
  std::string text = "<dl class=\"facts\">\n" + fact("Campaign", verdict.campaign);
  if (!verdict.command.empty()) text += fact("Seed", std::to_string(verdict.seed));
  text += fact("Started", verdict.started);
  const Nanoseconds duration =
      verdict.duration.count() > 0 ? verdict.duration : facts.range.end - facts.range.begin;
  text += fact("Duration", duration.count() > 0 ? seconds_text(duration) : "");
  text += fact("Operations", outcomes_text(verdict.outcomes));
  for (const auto& [name, version] : verdict.versions) text += fact(html(name), version);
  if (verdict.judgements.size() == 1) {
    const Judgement& only = verdict.judgements.front();
    text += fact("Checker", only.result.checker);
    text += fact("Model", only.result.model);
    text += fact("History", only.file);
    text += fact("Checked in", fmt::format("{:.3f} s", only.result.check_seconds));
  }
  return text + "</dl>\n";
}

std::string checkers(const RunVerdict& verdict) {
  if (verdict.judgements.size() < 2) return "";
  std::string text = heading("Checkers") +
                     "<div class=\"wide\"><table><tr><th>Checker</th><th>Model</th><th>Verdict</th>"
                     "<th>Found</th><th class=\"number\">Seconds</th></tr>\n";
  for (const Judgement& judgement : verdict.judgements) {
    const CheckResult& result = judgement.result;
    text += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{:.3f}</td></tr>\n",
        html(result.checker), html(result.model), validity_name(result.validity),
        html(verdict_words(result)), result.check_seconds);
  }
  return text + "</table></div>\n";
}

std::string anomalies(const RunVerdict& verdict, const History& history,
                      const HistoryFacts& facts) {
  std::string text;
  for (const Judgement& judgement : verdict.judgements) {
    const std::string section = anomalies_html(judgement.result, history, facts.faults);
    if (section.empty()) continue;
    const bool several = verdict.judgements.size() > 1;
    text += heading(several ? fmt::format("Anomalies: {}", html(judgement.result.checker))
                            : "Anomalies");
    text += section;
  }
  return text;
}

std::string operations(const HistoryFacts& facts) {
  if (facts.by_function.empty()) return "";
  std::string text = heading("Operations") +
                     "<div class=\"wide\"><table><tr><th>Function</th><th class=\"number\">ok</th>"
                     "<th class=\"number\">fail</th><th class=\"number\">info</th></tr>\n";
  for (const auto& [function, counts] : facts.by_function) {
    text += fmt::format(
        "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td></tr>\n",
        html(function), with_commas(counts.ok), with_commas(counts.fail), with_commas(counts.info));
  }
  text += "</table></div>\n";
  if (facts.open > 0) {
    text += fmt::format("<p class=\"soft\">Still running at the end: {}.</p>\n",
                        with_commas(facts.open));
  }
  return text;
}

std::string timeline(const HistoryFacts& facts) {
  const std::string svg = timeline_svg(facts);
  return svg.empty() ? "" : heading("Over time") + "<div class=\"plot wide\">" + svg + "</div>\n";
}

std::string span_row(const FaultSpan& span) {
  const Nanoseconds length = span.range.end - span.range.begin;
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
      "<td>{}{}</td></tr>\n",
      html(span.fault), html(shorten(joined(span.legs.empty() ? span.hosts : span.legs), 200)),
      seconds_text(span.range.begin), seconds_text(length),
      span.failed   ? "without effect; "
      : span.healed ? ""
                    : "never healed; ",
      html(shorten(span.detail, 300)));
}

std::string coverage_row(const CoverageRow& row) {
  return fmt::format(
      "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td>"
      "<td class=\"number\">{}</td><td class=\"number\">{}</td><td>{}</td></tr>\n",
      html(row.fault), html(row.where), html(row.direction), with_commas(row.times),
      seconds_text(row.total), with_commas(row.without_effect), html(shorten(row.effect, 300)));
}

std::string faults(const HistoryFacts& facts) {
  if (facts.faults.empty()) return "";
  std::string text =
      heading("Faults") +
      "<div class=\"wide\"><table><tr><th>Fault</th><th>Where</th><th>Direction</th>"
      "<th class=\"number\">Times</th><th class=\"number\">Time active</th>"
      "<th class=\"number\">Without effect</th><th>Measured, the first time</th></tr>\n";
  for (const CoverageRow& row : fault_coverage(facts.faults)) text += coverage_row(row);
  text +=
      "</table></div>\n<details><summary>Each of them</summary><div class=\"wide\"><table>"
      "<tr><th>Fault</th><th>Where</th><th class=\"number\">At</th><th class=\"number\">For</th>"
      "<th>What</th></tr>\n";
  const std::size_t listed = std::min(facts.faults.size(), kSpansListedMax);
  for (std::size_t i = 0; i < listed; ++i) text += span_row(facts.faults[i]);
  text += "</table></div>";
  if (listed < facts.faults.size()) {
    text +=
        fmt::format("<p class=\"soft\">and {} more</p>", with_commas(facts.faults.size() - listed));
  }
  return text + "</details>\n";
}

std::string logs(const RunVerdict& verdict) {
  if (verdict.log_files.empty()) return "";
  std::string text = heading("Server logs") + "<ul>\n";
  const std::size_t listed = std::min(verdict.log_files.size(), kLogsListedMax);
  for (std::size_t i = 0; i < listed; ++i) {
    text += fmt::format("<li><a href=\"{}\">{}</a></li>\n", html_href(verdict.log_files[i]),
                        html(verdict.log_files[i]));
  }
  return text + "</ul>\n";
}

std::string page_title(const RunVerdict& verdict) {
  const std::string of = !verdict.campaign.empty()    ? verdict.campaign
                         : verdict.judgements.empty() ? "history"
                                                      : verdict.judgements.front().file;
  return fmt::format("{}: {}", of, validity_name(verdict.overall));
}

Status io_error(const std::filesystem::path& path, const std::string& reason) {
  return surroundings_error(
      "cannot write the report {}: {}; free space or choose another place with -o", path.string(),
      reason);
}

Status replace_file(const std::filesystem::path& path, const std::string& content) {
  const std::filesystem::path partial = path.string() + ".partial";
  errno = 0;
  std::ofstream file(partial, std::ios::binary | std::ios::trunc);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  std::error_code ignored;
  if (!file) {
    const std::string reason = errno != 0 ? std::strerror(errno) : "writing failed";
    std::filesystem::remove(partial, ignored);
    return io_error(path, reason);
  }
  std::error_code renamed;
  std::filesystem::rename(partial, path, renamed);
  if (!renamed) return {};
  std::filesystem::remove(partial, ignored);
  return io_error(path, renamed.message());
}

}  // namespace

std::string render_html(const RunVerdict& verdict, const History& history) {
  const HistoryFacts facts = history_facts(history);
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";
  page += html(page_title(verdict));
  page += "</title>\n<style>";
  page += page_style();
  page += "</style>\n</head>\n<body>\n<main>\n";
  page += top(verdict) + run_facts(verdict, facts) + command(verdict) + checkers(verdict);
  page += anomalies(verdict, history, facts) + timeline(facts) + operations(facts);
  page += faults(facts) + logs(verdict);
  page += "</main>\n<script>";
  page += page_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

Status write_html(const std::filesystem::path& path, const RunVerdict& verdict,
                  const History& history) {
  return replace_file(path, render_html(verdict, history));
}

Status write_html(const std::filesystem::path& path, const Judgement& judgement,
                  const History& history) {
  return write_html(path, bare_verdict(judgement, history), history);
}

RunVerdict bare_verdict(const Judgement& judgement, const History& history) {
  RunVerdict verdict;
  verdict.overall = judgement.result.validity;
  verdict.reason = judgement.result.reason;
  verdict.judgements = {judgement};
  const HistoryFacts facts = history_facts(history, 1);
  verdict.outcomes = facts.outcomes;
  for (const FaultSpan& span : facts.faults) {
    if (!span.failed) ++verdict.fault_counts[span.fault];
  }
  verdict.coverage = fault_coverage(facts.faults);
  return verdict;
}

}  // namespace ordeal
