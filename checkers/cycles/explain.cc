#include "checkers/cycles/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>

#include "checkers/cycles/models.h"

namespace ordeal::cycles {
namespace {

constexpr std::size_t kListShown = 16;

std::string micro_op_text(const History& history, const StoredMicroOp& micro_op) {
  const std::string key = history.key(micro_op.key).text();
  if (micro_op.function == MicroFunction::read) {
    return fmt::format(
        "[:r {} {}]", key,
        micro_op.has_list ? list_text(history.list(micro_op)) : micro_op.value.text());
  }
  return fmt::format("[:{} {} {}]", micro_function_name(micro_op.function), key,
                     micro_op.value.text());
}

std::string real_time_text(const Transactions& transactions, const CycleStep& step,
                           std::string_view from, std::string_view to) {
  const History& history = transactions.history();
  const Event& end = history.event(transactions[step.from].completion);
  const Event& begin = history.event(transactions[step.to].invocation);
  const double seconds = static_cast<double>(begin.time_ns - end.time_ns) * 1e-9;
  const std::string gap = seconds >= 0.0005 ? fmt::format("{:.3f} seconds", seconds) : "just";
  return fmt::format("{} completed at index {}, {} before the invocation of {}, at index {}", from,
                     end.index, gap, to, begin.index);
}

// One sentence that says why a circle of this class cannot be.
std::string impossibility(std::string_view type) {
  struct Sentence {
    std::string_view prefix, text;
  };
  static constexpr Sentence kSentences[] = {
      {"G0",
       "Each wrote over what the one before it had written, in a circle: the writes of these "
       "transactions are interleaved, and no order of the transactions gives these versions"},
      {"G1c",
       "Each saw, or wrote over, what the one before it had written, in a circle: none of "
       "them can have been the first"},
      {"G-single",
       "One of them missed a write of another that comes before it: no single state of "
       "the database shows what it read"},
      {"G-nonadjacent",
       "They disagree about what came first, as if there were several histories of "
       "the database: no sequence of its states shows what they read"},
      {"G2", "Each order of them lets one see a write that it missed"}};
  const auto* found =
      std::find_if(std::begin(kSentences), std::end(kSentences),
                   [&](const Sentence& sentence) { return type.starts_with(sentence.prefix); });
  const std::string_view given = type.ends_with("-realtime") ? ", given when they were executed"
                                 : type.ends_with("-process")
                                     ? ", given that a process executes one after the other"
                                     : "";
  return fmt::format("{}{}.", found->text, given);
}

// T1, T2, ... by order of appearance in the cycle.
std::string name(std::size_t place) { return fmt::format("T{}", place + 1); }

}  // namespace

std::string list_text(std::span<const Value> list, std::size_t focus) {
  std::string text = "[";
  const std::size_t half = kListShown / 2;
  const std::size_t begin = list.size() <= kListShown || focus < half ? 0 : focus - half;
  const std::size_t end = std::min(list.size(), begin + kListShown);
  if (begin > 0) text += "... ";
  for (std::size_t at = begin; at < end; ++at) {
    if (at > begin) text += ' ';
    text += list[at].text();
  }
  if (end < list.size()) text += " ...";
  return text + "]";
}

// The end of a list is where reads differ, as a rule.
std::string list_text(std::span<const Value> list) {
  return list_text(list, list.size() - std::min<std::size_t>(list.size(), 1));
}

std::string transaction_text(const Transactions& transactions, TxnId txn) {
  const Event& event = transactions.reported_event(txn);
  std::string value;
  for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
    if (!value.empty()) value += ' ';
    value += micro_op_text(transactions.history(), micro_op);
  }
  static constexpr std::string_view kStatus[] = {"ok", "info", "fail"};
  return fmt::format("{{:index {}, :process {}, :type :{}, :value [{}]}}", event.index,
                     event.process.value,
                     kStatus[static_cast<std::size_t>(transactions[txn].status)], value);
}

Value as_other_type(Value value) {
  const std::string text = value.text();
  if (value.is_integer()) return Value::symbol(fmt::format("\"{}\"", text));
  std::int64_t number = 0;
  const bool quoted = text.size() > 2 && text.front() == '"' && text.back() == '"';
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  const bool whole = quoted && error == std::errc{} && end == text.data() + text.size() - 1;
  return whole ? Value(number) : Value();
}

std::string step_text(const Dependencies& dependencies, const CycleStep& step,
                      std::string_view from, std::string_view to) {
  const Transactions& transactions = dependencies.involved();
  if (step.kind == EdgeKind::realtime) return real_time_text(transactions, step, from, to);
  if (step.kind == EdgeKind::process) {
    return fmt::format("process {} executed {} before {}",
                       transactions.reported_event(step.from).process.value, from, to);
  }
  const auto reason = dependencies.reason(step.from, step.to, step.kind);
  assert(reason);
  return dependencies.words(step, *reason, from, to);
}

Anomaly direct_anomaly(const Transactions& transactions, std::string_view type,
                       std::span<const TxnId> txns, KeyId key, std::vector<Value> values,
                       std::string explanation) {
  Anomaly anomaly;
  anomaly.type = type;
  anomaly.models_violated = weakest_ruled_out(type);
  anomaly.explanation = std::move(explanation);
  for (const TxnId txn : txns) anomaly.operations.push_back(transactions.operation_index(txn));
  anomaly.key = transactions.history().key(key);
  anomaly.values = std::move(values);
  return anomaly;
}

Anomaly explain_cycle(const Dependencies& dependencies, const Cycle& cycle) {
  const Transactions& transactions = dependencies.involved();
  Anomaly anomaly;
  anomaly.type = cycle_type(cycle);
  anomaly.models_violated = weakest_ruled_out(anomaly.type);
  std::string let = "Let:\n";
  std::string then = "\nThen:\n";
  for (std::size_t at = 0; at < cycle.size(); ++at) {
    const CycleStep& edge = cycle[at];
    const bool last = at + 1 == cycle.size();
    const std::string from = name(at);
    const std::string to = name(last ? 0 : at + 1);
    Step step;
    step.from = transactions.operation_index(edge.from);
    step.to = transactions.operation_index(edge.to);
    step.edge = edge_name(edge.kind);
    step.explanation = step_text(dependencies, edge, from, to);
    if (const auto reason = edge.kind <= EdgeKind::rw
                                ? dependencies.reason(edge.from, edge.to, edge.kind)
                                : std::nullopt) {
      step.key = transactions.history().key(reason->key);
      step.value = reason->value;
      step.next_value = reason->next_value;
    }
    let += fmt::format("  {} = {}\n", from, transaction_text(transactions, edge.from));
    then += last ? fmt::format("  - However, {} < {}, because {}: a contradiction!", from, to,
                               step.explanation)
                 : fmt::format("  - {} < {}, because {}.\n", from, to, step.explanation);
    anomaly.operations.push_back(step.from);
    anomaly.steps.push_back(std::move(step));
  }
  anomaly.explanation = fmt::format("{}{}\n\n{}", let, then, impossibility(anomaly.type));
  return anomaly;
}

}  // namespace ordeal::cycles
