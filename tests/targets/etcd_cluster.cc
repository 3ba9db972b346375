#include "tests/targets/etcd_cluster.h"

#include <fmt/ranges.h>

namespace ordeal {
namespace {

std::string read_value(const MicroOp& micro_op) {
  if (!micro_op.list) return micro_op.value.text();
  std::vector<std::string> elements;
  for (const Value element : *micro_op.list) elements.push_back(element.text());
  return fmt::format("[{}]", fmt::join(elements, ","));
}

}  // namespace

std::string invoke(Client& client, std::vector<MicroOp> micro_ops) {
  const Outcome outcome = client.invoke(Txn{std::move(micro_ops)}, {});
  if (const auto* fail = std::get_if<Fail>(&outcome)) return "fail " + fail->note;
  if (const auto* info = std::get_if<Info>(&outcome)) return "info " + info->note;
  std::string text = "ok";
  for (const MicroOp& micro_op : std::get<Txn>(std::get<Ok>(outcome).payload).micro_ops) {
    if (micro_op.function == MicroFunction::read) text += " " + read_value(micro_op);
  }
  return text;
}

}  // namespace ordeal
