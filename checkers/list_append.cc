#include "checkers/list_append.h"

#include <fmt/format.h>

#include <array>
#include <future>

#include "checkers/cycles/certificate.h"
#include "checkers/cycles/cycle_classes.h"
#include "checkers/cycles/direct_anomalies.h"
#include "checkers/cycles/inference.h"
#include "checkers/cycles/models.h"
#include "checkers/cycles/single_keys.h"
#include "checkers/cycles/threads.h"
#include "checkers/cycles/verdict.h"

namespace ordeal {
namespace {

// Why the history is no list-append history; "" if it is one.
std::string foreign_text(const cycles::Inference& inference) {
  if (inference.foreign() == nullptr) return "";
  return fmt::format(
      "operation {} has a micro-operation {} of a register; list-append needs appends and "
      "reads of lists",
      inference.transactions.operation_index(inference.foreign_txn()),
      micro_function_name(inference.foreign()->function));
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

// Transactions with unread appends to one key: the last ones, in an order that nobody saw.
std::vector<cycles::Rivals> rivals(const cycles::Inference& inference) {
  std::vector<cycles::Rivals> groups;
  for (KeyId key = 0; key < inference.transactions.history().key_count(); ++key) {
    const auto unread = inference.orders.unread_appenders(key);
    if (unread.size() > 1) groups.emplace_back(unread.begin(), unread.end());
  }
  return groups;
}

void analyse(const History& history, bool prove, CheckResult& result, const std::stop_token& stop) {
  const cycles::Inference inference(history);
  result.transactions = inference.transactions.counts();
  std::string doubt = foreign_text(inference);
  if (doubt.empty()) doubt = cycles::nothing_to_judge(result.transactions);
  if (!doubt.empty()) return cycles::judge_unknown(result, doubt);

  auto direct_found = std::async(cycles::aside_from(inference.transactions.size()), [&inference] {
    return cycles::find_direct_anomalies(inference, cycles::kExamplesMax);
  });
  const cycles::Graph graph = inference.graph();
  cycles::CycleReport found = cycles::find_cycles(graph, cycles::kExamplesMax, stop);
  cycles::DirectReport direct = direct_found.get();
  cycles::DirectReport single_keys;
  if (!found.counts.empty() || !direct.counts.empty()) {
    single_keys = cycles::find_single_key_anomalies(inference, cycles::kExamplesMax);
    cycles::add_impossible_states(direct, single_keys);
  }
  found.stopped = found.stopped || stop.stop_requested();
  if (inference.appends.first_clash()) doubt = clash_text(inference);
  cycles::judge(result, inference, std::move(direct), found, std::move(single_keys), doubt);
  if (prove && result.validity == Validity::valid) {
    cycles::prove(result, inference.transactions, graph, rivals(inference));
  }
}

}  // namespace

std::span<const OptionSpec> list_append_options() {
  static const std::array<OptionSpec, 2> kOptions = {{
      {"model", OptionType::text, "strict-serializable",
       "consistency model that the history should satisfy", 0, 0, cycles::model_names()},
      {"certificate", OptionType::boolean, "false", "prove a valid verdict; see --certificate"},
  }};
  return kOptions;
}

CheckResult check_list_append(const History& history, const Options& options,
                              std::stop_token stop) {
  CheckResult result;
  result.checker = "list-append";
  result.operations = history.size();
  result.model = cycles::canonical_model(options.text("model"));
  analyse(history, options.boolean("certificate"), result, stop);
  return result;
}

}  // namespace ordeal
