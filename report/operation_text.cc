#include "report/operation_text.h"

#include <fmt/format.h>

#include <variant>

namespace ordeal {
namespace {

std::string text_of(const MicroOp& micro_op) {
  std::string text =
      fmt::format("[:{} {} ", micro_function_name(micro_op.function), micro_op.key.text());
  if (!micro_op.list) return text + micro_op.value.text() + "]";
  text += "[";
  for (const Value element : *micro_op.list) {
    if (text.back() != '[') text += ' ';
    text += element.text();
  }
  return text + "]]";
}

struct PayloadText {
  std::string operator()(const Txn& txn) const {
    std::string text;
    for (const MicroOp& micro_op : txn.micro_ops) {
      if (!text.empty()) text += ' ';
      text += text_of(micro_op);
    }
    return text;
  }
  std::string operator()(const Transfer& transfer) const {
    return fmt::format("{{:from {}, :to {}, :amount {}}}", transfer.from.text(), transfer.to.text(),
                       transfer.amount);
  }
  std::string operator()(const Balances& balances) const {
    if (!balances.accounts) return "nil";
    std::string text = "{";
    for (const auto& [account, balance] : *balances.accounts) {
      if (text.size() > 1) text += ", ";
      text += fmt::format("{} {}", account.text(), balance);
    }
    return text + "}";
  }
  std::string operator()(const FaultEvent& event) const {
    return fmt::format("{} {} on {}{}{}", event.action == FaultAction::inject ? "inject" : "heal",
                       event.fault, fmt::join(event.hosts, ", "), event.detail.empty() ? "" : ": ",
                       event.detail);
  }
  std::string operator()(const Opaque& opaque) const { return opaque.edn; }
};

}  // namespace

std::string payload_text(const Payload& payload) { return std::visit(PayloadText(), payload); }

}  // namespace ordeal
