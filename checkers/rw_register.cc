#include "checkers/rw_register.h"

#include <fmt/format.h>

#include <array>

#include "checkers/cycles/certificate.h"
#include "checkers/cycles/models.h"
#include "checkers/cycles/verdict.h"
#include "checkers/registers/direct_anomalies.h"
#include "checkers/registers/inference.h"
#include "checkers/registers/serial_order.h"

namespace ordeal {
namespace {

// Why the history is no rw-register history; "" if it is one.
std::string foreign_micro_op(const cycles::Transactions& transactions) {
  for (cycles::TxnId txn = 0; txn < transactions.size(); ++txn) {
    for (const StoredMicroOp& micro_op : transactions.micro_ops(txn)) {
      const bool append = micro_op.function == MicroFunction::append;
      const bool nil = micro_op.function == MicroFunction::write && micro_op.value.is_nil();
      if (!append && !micro_op.has_list && !nil) continue;
      return fmt::format("operation {} {}; rw-register needs reads and writes of registers",
                         transactions.operation_index(txn),
                         nil ? "writes nil, which stands for what nobody has written"
                             : "has a micro-operation of a list");
    }
  }
  return "";
}

std::string clash_text(const registers::Inference& inference) {
  const auto& clash = *inference.versions.first_clash();
  const auto& transactions = inference.transactions;
  return fmt::format(
      "value {} was written to key {} by operation {} and again by operation {}, so reads of that "
      "key do not tell whose write they show; written values must be unique (a client that "
      "retries?)",
      clash.value.text(), transactions.history().key(clash.key).text(),
      transactions.operation_index(clash.first), transactions.operation_index(clash.second));
}

// Models of single keys ask which version came first, and registers do not tell.
std::string single_key_text(std::string_view model) {
  if (!cycles::is_of_single_keys(model)) return "";
  return fmt::format(
      "registers do not show the order of their versions, by which {} is judged; lists do", model);
}

void add_certificate(const registers::Inference& inference, const cycles::Graph& graph,
                     CheckResult& result) {
  const cycles::ProofPlan plan = cycles::proof_plan(result.model);
  if (plan.proof != cycles::Proof::serial) {
    result.certificate_note =
        "registers have certificates for serializable and its strong forms only";
    return;
  }
  for (const cycles::TxnId txn : registers::serial_order(inference, graph, plan.order)) {
    result.certificate.push_back({inference.transactions.operation_index(txn), 0, 0});
  }
  if (result.certificate.empty()) {
    result.certificate_note =
        "no serial order was found by a search that does not go back: no cycle was found either, "
        "but nothing is proved";
  }
}

void analyse(const History& history, const registers::Assumptions& assumptions, bool prove,
             CheckResult& result, const std::stop_token& stop) {
  const registers::Inference inference(history, assumptions);
  result.transactions = inference.transactions.counts();
  std::string doubt = foreign_micro_op(inference.transactions);
  if (doubt.empty()) doubt = cycles::nothing_to_judge(result.transactions);
  if (!doubt.empty()) return cycles::judge_unknown(result, doubt);
  if (inference.versions.first_clash()) doubt = clash_text(inference);
  if (doubt.empty()) doubt = single_key_text(result.model);
  const cycles::Graph graph = inference.graph();
  cycles::judge(result, inference,
                registers::find_direct_anomalies(inference, cycles::kExamplesMax),
                cycles::find_cycles(graph, cycles::kExamplesMax, stop), {}, doubt);
  if (result.validity == Validity::valid) {
    result.reason += "; what registers do not show of the order of versions was not assumed";
  }
  if (prove && result.validity == Validity::valid) add_certificate(inference, graph, result);
}

}  // namespace

std::span<const OptionSpec> rw_register_options() {
  static const std::array<OptionSpec, 5> kOptions = {{
      {"model", OptionType::text, "strict-serializable",
       "consistency model that the history should satisfy", 0, 0, cycles::model_names()},
      {"wfr-keys", OptionType::boolean, "false",
       "what a transaction read of a key comes before what it then wrote to it"},
      {"sequential-keys", OptionType::boolean, "false", "each key is sequentially consistent"},
      {"linearizable-keys", OptionType::boolean, "false", "each key is linearizable"},
      {"certificate", OptionType::boolean, "false", "prove a valid verdict; see --certificate"},
  }};
  return kOptions;
}

CheckResult check_rw_register(const History& history, const Options& options,
                              std::stop_token stop) {
  CheckResult result;
  result.checker = "rw-register";
  result.operations = history.size();
  result.model = cycles::canonical_model(options.text("model"));
  analyse(history,
          {.wfr_keys = options.boolean("wfr-keys"),
           .sequential_keys = options.boolean("sequential-keys"),
           .linearizable_keys = options.boolean("linearizable-keys")},
          options.boolean("certificate"), result, stop);
  return result;
}

}  // namespace ordeal
