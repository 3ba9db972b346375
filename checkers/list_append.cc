#include "checkers/list_append.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "checkers/cycles/cycle_classes.h"
#include "checkers/cycles/direct_anomalies.h"
#include "checkers/cycles/explain.h"
#include "checkers/cycles/inference.h"
#include "checkers/cycles/models.h"

namespace ordeal {
namespace {

constexpr std::size_t kExamplesMax = 4;  // of a type

// Why the history is no list-append history; "" if it is one.
std::string foreign_micro_op(const cycles::Transactions& transactions) {
  for (cycles::TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      const bool write = micro_op.function == MicroFunction::write;
      const bool register_read =
          micro_op.function == MicroFunction::read && !micro_op.value.is_nil();
      if (!write && !register_read) continue;
      return fmt::format(
          "operation {} has a micro-operation {} of a register; list-append needs appends and "
          "reads of lists",
          transactions.operation_index(txn), micro_function_name(micro_op.function));
    }
  }
  return "";
}

std::string clash_text(const cycles::Inference& inference) {
  const auto& clash = *inference.appends.first_clash();
  const cycles::Append& first = inference.appends[clash.first];
  const cycles::Append& second = inference.appends[clash.second];
  const auto& transactions = inference.transactions;
  return fmt::format(
      "element {} was appended to key {} by operation {} and again by operation {}, so reads of "
      "that key do not "
      "tell whose append they show; appended elements must be unique (a client that retries?)",
      first.micro_op->value.text(), transactions.history().key(first.micro_op->key).text(),
      transactions.operation_index(first.txn), transactions.operation_index(second.txn));
}

void judge_types(CheckResult& result) {
  std::vector<std::string> types;
  for (const auto& [type, count] : result.anomaly_counts) {
    types.push_back(type);
    auto& list =
        cycles::rules_out(type, result.model) ? result.anomaly_types : result.anomaly_types_beyond;
    list.push_back(type);
  }
  cycles::Boundary boundary = cycles::boundary(types);
  result.weakest_violated = std::move(boundary.weakest_violated);
  result.all_violated = std::move(boundary.all_violated);
  result.strongest_possible = std::move(boundary.strongest_possible);
  // Those that the model rules out come first.
  std::stable_partition(
      result.anomalies.begin(), result.anomalies.end(),
      [&](const Anomaly& anomaly) { return cycles::rules_out(anomaly.type, result.model); });
}

void conclude(CheckResult& result, const std::string& doubt) {
  if (!result.anomaly_types.empty()) {
    result.validity = Validity::invalid;
    result.reason = fmt::format("found {}, which {} rules out",
                                fmt::join(result.anomaly_types, ", "), result.model);
  } else if (!doubt.empty()) {
    result.validity = Validity::unknown;
    result.reason = doubt;
    result.strongest_possible.clear();
  } else {
    result.validity = Validity::valid;
    result.reason = fmt::format("no anomaly that {} rules out in {} committed transactions",
                                result.model, result.transactions.ok);
  }
}

void analyse(const History& history, CheckResult& result, const std::stop_token& stop) {
  const cycles::Inference inference(history);
  result.transactions = inference.transactions.counts();
  std::string doubt = foreign_micro_op(inference.transactions);
  if (doubt.empty() && result.transactions.ok == 0) {
    doubt = "no transaction is known to have committed, so there was nothing to judge";
  }
  if (!doubt.empty()) return conclude(result, doubt);

  cycles::DirectReport direct = cycles::find_direct_anomalies(inference, kExamplesMax);
  cycles::CycleReport found = cycles::find_cycles(inference.graph(), kExamplesMax, stop);
  result.anomaly_counts = std::move(direct.counts);
  result.anomaly_counts.insert(found.counts.begin(), found.counts.end());
  for (const auto& [type, examples] : found.examples) {
    for (const cycles::Cycle& cycle : examples) {
      result.anomalies.push_back(cycles::explain_cycle(inference, cycle));
    }
  }
  std::stable_sort(direct.examples.begin(), direct.examples.end(),
                   [](const Anomaly& a, const Anomaly& b) { return a.type < b.type; });
  std::move(direct.examples.begin(), direct.examples.end(), std::back_inserter(result.anomalies));
  judge_types(result);
  if (inference.appends.first_clash()) doubt = clash_text(inference);
  if (found.stopped || stop.stop_requested())
    doubt = "stopped on request before the analysis was complete";
  conclude(result, doubt);
}

}  // namespace

std::span<const OptionSpec> list_append_options() {
  static const std::array<OptionSpec, 1> kOptions = {{
      {"model", OptionType::text, "strict-serializable",
       "consistency model that the history should satisfy", 0, 0, cycles::model_names()},
  }};
  return kOptions;
}

CheckResult check_list_append(const History& history, const Options& options,
                              std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  CheckResult result;
  result.checker = "list-append";
  result.model = cycles::canonical_model(options.text("model"));
  result.operations = history.size();
  analyse(history, result, stop);
  result.check_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace ordeal
