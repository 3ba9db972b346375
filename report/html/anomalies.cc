#include "report/html/anomalies.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "history/edn_payload.h"
#include "report/cycle_dot.h"
#include "report/graphviz.h"
#include "report/html/escape.h"
#include "report/words.h"

namespace ordeal {
namespace {

// These bound the page: at most 20 anomalies of 16 operations of 2,500 bytes.
constexpr std::size_t kAnomaliesMax = 20;
constexpr std::size_t kOperationsMax = 16;
constexpr std::size_t kOperationBytesMax = 2'500;
constexpr std::size_t kExplanationBytesMax = 6'000;
constexpr std::size_t kListElementsMax = 40;

// Who takes part, in the order of the explanation: T1 is where the first step starts.
std::vector<std::uint64_t> participants(const Anomaly& anomaly) {
  std::vector<std::uint64_t> all;
  for (const Step& step : anomaly.steps) all.push_back(step.from);
  for (const Step& step : anomaly.steps) all.push_back(step.to);
  all.insert(all.end(), anomaly.operations.begin(), anomaly.operations.end());
  std::vector<std::uint64_t> unique;
  std::set<std::uint64_t> seen;
  for (const std::uint64_t index : all) {
    if (seen.insert(index).second) unique.push_back(index);
  }
  if (unique.size() > kOperationsMax) unique.resize(kOperationsMax);
  return unique;
}

// The texts of all operations, with lists cut around the places where they disagree with each
// other.
std::vector<std::string> payload_texts(const History& history,
                                       const std::vector<Position>& positions) {
  std::string all;
  for (const Position position : positions) {
    std::string text = payload_edn(history.operation(position).payload);
    std::replace(text.begin(), text.end(), '\n', ' ');
    all += text + "\n";
  }
  all = shorten_lists(all, kListElementsMax);
  std::vector<std::string> texts;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = all.find('\n', begin);
    texts.push_back(shorten(all.substr(begin, end - begin), kOperationBytesMax));
    begin = end + 1;
  }
  return texts;
}

TimeRange interval(const History& history, const Event& event) {
  const Nanoseconds time(event.time_ns);
  if (event.partner == kNoPosition) return {time, time};
  const Nanoseconds other(history.event(event.partner).time_ns);
  return {std::min(time, other), std::max(time, other)};
}

std::string chips(const std::vector<const FaultSpan*>& faults) {
  std::set<std::string> names;
  for (const FaultSpan* span : faults) names.insert(span->fault + " on " + joined(span->hosts));
  std::string text;
  for (const std::string& name : names) {
    text += fmt::format("<span class=\"chip\">during {}</span>", html(shorten(name, 80)));
  }
  return text;
}

// HTML knows what <svg> is; the names of XML are for files, and look like addresses.
std::string without_namespaces(std::string svg) {
  for (const std::string name : {" xmlns=\"", " xmlns:xlink=\""}) {
    const std::size_t at = svg.find(name);
    if (at != std::string::npos) svg.erase(at, svg.find('"', at + name.size()) + 1 - at);
  }
  return svg;
}

class Section {
 public:
  Section(const CheckResult& result, const History& history, const std::vector<FaultSpan>& faults)
      : result_(result), history_(history), faults_(faults) {}

  std::string write() {
    const std::vector<std::string> types = types_by_weight(result_);
    const std::size_t each =
        std::max<std::size_t>(kAnomaliesMax / std::max<std::size_t>(types.size(), 1), 1);
    std::string text;
    for (const std::string& type : types) text += group(type, each);
    return text;
  }

 private:
  std::string group(const std::string& type, std::size_t anomalies_max) {
    std::string text = fmt::format("<h3>{}{}</h3>\n", html(type), found(type));
    std::size_t shown = 0;
    for (const Anomaly& anomaly : result_.anomalies) {
      if (anomaly.type != type) continue;
      if (shown == 0) text += rules_out(anomaly);
      if (shown == anomalies_max || shown_ == kAnomaliesMax) {
        return text + "<p class=\"soft\">More examples are in the JSON verdict.</p>\n";
      }
      text += article(anomaly);
      ++shown;
      ++shown_;
    }
    return text;
  }

  std::string found(const std::string& type) const {
    const auto count = result_.anomaly_counts.find(type);
    const bool allowed =
        std::count(result_.anomaly_types.begin(), result_.anomaly_types.end(), type) == 0;
    std::string text;
    if (count != result_.anomaly_counts.end())
      text += fmt::format(", found {}", times_found(count->second));
    if (allowed && !result_.model.empty())
      text += fmt::format(", which {} allows", html(result_.model));
    return text.empty() ? "" : fmt::format("<span class=\"soft\">{}</span>", text);
  }

  std::string rules_out(const Anomaly& anomaly) const {
    if (anomaly.models_violated.empty()) return "";
    return fmt::format("<p>Ruled out by {} and everything stronger.</p>\n",
                       html(joined(anomaly.models_violated)));
  }

  std::string article(const Anomaly& anomaly) {
    const std::vector<std::uint64_t> indexes = participants(anomaly);
    TransactionNames names;
    for (const std::uint64_t index : indexes) {
      names.emplace(index, fmt::format("T{}", names.size() + 1));
    }
    const std::string words =
        shorten(shorten_lists(anomaly.explanation, kListElementsMax), kExplanationBytesMax);
    return fmt::format("<article>\n<p class=\"words\">{}</p>\n{}{}</article>\n", html(words),
                       picture(anomaly, names), operations(indexes, names));
  }

  std::string picture(const Anomaly& anomaly, const TransactionNames& names) {
    const std::string dot = cycle_dot(anomaly, names);
    if (dot.empty()) return "";
    return fmt::format("<figure class=\"cycle\" role=\"img\" aria-label=\"{} cycle\">{}</figure>\n",
                       html(anomaly.type), without_namespaces(svg_of_dot(dot)));
  }

  std::string operations(const std::vector<std::uint64_t>& indexes, const TransactionNames& names) {
    const auto found = positions_of(history_, {indexes.begin(), indexes.end()});
    std::vector<Position> positions;
    for (const std::uint64_t index : indexes) {
      if (const auto at = found.find(index); at != found.end()) positions.push_back(at->second);
    }
    const std::vector<std::string> texts = payload_texts(history_, positions);
    std::string text;
    for (std::size_t i = 0; i < positions.size(); ++i) {
      const Event& event = history_.event(positions[i]);
      text += operation(event, positions[i], names.at(event.index), texts[i]);
    }
    return text;
  }

  std::string operation(const Event& event, Position position, const std::string& name,
                        const std::string& text) const {
    const TimeRange range = interval(history_, event);
    const bool open = event.phase == Phase::invoke && event.partner == kNoPosition;
    const std::string_view outcome = open ? "open" : phase_name(event.phase);
    const std::string note = shorten(history_.note(position), 300);
    return fmt::format(
        "<div class=\"operation\"><b>{}</b> <span class=\"o-{}\">{}</span> <span class=\"soft\">"
        "{} by process {}, {} to {}, index {}{}{}</span> {}<pre>{}</pre></div>\n",
        name, outcome, outcome, html(history_.function(event)), event.process.value,
        seconds_text(range.begin), seconds_text(range.end), event.index, note.empty() ? "" : ": ",
        html(note), chips(active_faults(faults_, range)), html(text));
  }

  const CheckResult& result_;
  const History& history_;
  const std::vector<FaultSpan>& faults_;
  std::size_t shown_ = 0;
};

}  // namespace

std::string anomalies_html(const CheckResult& result, const History& history,
                           const std::vector<FaultSpan>& faults) {
  return Section(result, history, faults).write();
}

}  // namespace ordeal
