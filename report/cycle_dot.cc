#include "report/cycle_dot.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "report/words.h"

namespace ordeal {
namespace {

constexpr std::size_t kNodesMax = 16;
constexpr std::size_t kLabelBytesMax = 60;

// As a quoted string of DOT: what it shows is what was recorded.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : terminal_safe(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + "\"";
}

std::string label_of(const Step& step) {
  std::string text = step.edge;
  if (step.key) text = fmt::format("{} {}", text, step.key->text());
  if (step.value && step.next_value) {
    text = fmt::format("{}: {} → {}", text, step.value->text(), step.next_value->text());
  } else if (step.value || step.next_value) {
    text = fmt::format("{}: {}", text, (step.value ? *step.value : *step.next_value).text());
  }
  return shorten(text, kLabelBytesMax);
}

// Dependencies of data are solid; those of sessions and of real time dashed and dotted.
std::string_view style_of(const Step& step) {
  if (step.edge == "process") return "dashed";
  return step.edge == "realtime" ? "dotted" : "solid";
}

std::string name_of(std::uint64_t operation, const TransactionNames& names) {
  const auto found = names.find(operation);
  return found == names.end() ? fmt::format("op {}", operation) : found->second;
}

}  // namespace

TransactionNames transaction_names(const Anomaly& anomaly) {
  TransactionNames names;
  for (const Step& step : anomaly.steps) {
    names.try_emplace(step.from, fmt::format("T{}", names.size() + 1));
  }
  return names;
}

std::string cycle_dot(const Anomaly& anomaly, const TransactionNames& names) {
  std::set<std::uint64_t> seen;
  std::vector<std::uint64_t> nodes;  // in the order of the cycle, which is how they are laid out
  for (const Step& step : anomaly.steps) {
    for (const std::uint64_t node : {step.from, step.to}) {
      if (seen.insert(node).second) nodes.push_back(node);
    }
  }
  if (nodes.size() < 2 || nodes.size() > kNodesMax) return "";
  std::string dot = fmt::format(
      "digraph {} {{\n"
      "  graph [bgcolor=\"transparent\", rankdir=\"LR\", nodesep=0.6, ranksep=1.1];\n"
      "  node [shape=\"circle\", fontname=\"sans-serif\", fontsize=12, margin=0.04];\n"
      "  edge [fontname=\"sans-serif\", fontsize=11, arrowsize=0.8];\n",
      quoted(anomaly.type));
  for (const std::uint64_t node : nodes) {
    dot += fmt::format("  n{} [label={}, tooltip={}];\n", node, quoted(name_of(node, names)),
                       quoted(fmt::format("operation {}", node)));
  }
  for (const Step& step : anomaly.steps) {
    dot += fmt::format("  n{} -> n{} [label={}, style=\"{}\", tooltip={}];\n", step.from, step.to,
                       quoted(label_of(step)), style_of(step), quoted(step.explanation));
  }
  return dot + "}\n";
}

}  // namespace ordeal
