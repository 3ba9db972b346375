#include "report_fixture.h"

#include <utility>

namespace ordeal::fixture {

Operation operation(std::uint64_t index, double seconds, std::int64_t process, Phase phase,
                    Payload payload, const std::string& function) {
  const auto time = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  return {index, time, ProcessId{process}, phase, function, std::move(payload), ""};
}

Operation fault(std::uint64_t index, double seconds, Phase phase, FaultAction action,
                const std::string& name, const std::vector<std::string>& hosts,
                const std::string& detail) {
  return operation(index, seconds, kNemesis.value, phase, FaultEvent{name, action, hosts, detail},
                   name);
}

MicroOp append(Value key, std::int64_t element) {
  return {MicroFunction::append, key, Value(element), std::nullopt};
}

MicroOp read(Value key, std::vector<std::int64_t> elements) {
  MicroOp micro_op{MicroFunction::read, key, Value(), std::vector<Value>()};
  for (const std::int64_t element : elements) micro_op.list->emplace_back(element);
  return micro_op;
}

History write_skew() {
  const Value x(1);
  const Value y = Value::symbol(":y");
  const Txn first{{read(x, {}), append(y, 1)}};
  const Txn second{{read(y, {}), append(x, 1)}};
  HistoryBuilder builder;
  builder.add(fault(0, 0.5, Phase::invoke, FaultAction::inject, "partition", {"n1"}));
  builder.add(
      fault(1, 0.6, Phase::info, FaultAction::inject, "partition", {"n1"}, "n1 is cut off"));
  builder.add(operation(2, 1.0, 0, Phase::invoke, first));
  builder.add(operation(3, 1.1, 1, Phase::invoke, second));
  builder.add(operation(4, 1.2, 0, Phase::ok, first));
  builder.add(operation(5, 1.3, 1, Phase::ok, second));
  builder.add(fault(6, 2.0, Phase::invoke, FaultAction::heal, "partition", {"n1"}));
  builder.add(fault(7, 2.1, Phase::info, FaultAction::heal, "partition", {"n1"}));
  return std::move(builder).build();
}

CheckResult write_skew_result() {
  CheckResult result;
  result.checker = "list-append";
  result.model = "serializable";
  result.validity = Validity::invalid;
  result.operations = 8;
  result.transactions = {2, 0, 0};
  result.anomaly_types = {"G2-item"};
  result.anomaly_counts = {{"G2-item", 12}};
  Anomaly anomaly;
  anomaly.type = "G2-item";
  anomaly.models_violated = {"repeatable-read"};
  anomaly.explanation =
      "Let T1 and T2 be as below; each missed the other's append: a contradiction!";
  anomaly.steps = {{4, 5, "rw", Value(1), std::nullopt, Value(1), "T1 read [] of key 1"},
                   {5, 4, "rw", Value::symbol(":y"), std::nullopt, Value(1), ""}};
  result.anomalies = {anomaly};
  result.weakest_violated = {"repeatable-read"};
  result.all_violated = {"repeatable-read", "serializable"};
  result.strongest_possible = {"snapshot-isolation"};
  result.check_seconds = 0.25;
  return result;
}

RunVerdict invalid_run() {
  RunVerdict verdict;
  verdict.campaign = "quickstart";
  verdict.seed = 18446744073709551615U;
  verdict.command = "ordeal run campaigns/quickstart.yaml --seed 18446744073709551615";
  verdict.started = "2024-05-01T12:00:00Z";
  verdict.duration = std::chrono::milliseconds(2500);
  verdict.versions = {{"ordeal", "0.1.0"}, {"PostgreSQL", "15.6"}};
  verdict.overall = Validity::invalid;
  verdict.judgements = {{"history.ohist", write_skew_result(), 0.125, {}}};
  verdict.fault_counts = {{"partition", 1}};
  verdict.outcomes = {2, 0, 0};
  verdict.log_files = {"hosts/n1/postgres.log"};
  return verdict;
}

}  // namespace ordeal::fixture
