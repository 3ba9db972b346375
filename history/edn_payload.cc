#include "history/edn_payload.h"

#include <fmt/format.h>

#include <algorithm>

#include "history/edn.h"

namespace ordeal {
namespace {

// Each reader yields nothing where the form has another shape.

std::optional<Transfer> transfer(EdnScanner scanner) {
  Transfer transfer;
  unsigned seen = 0;
  if (!scanner.consume('{')) return std::nullopt;
  while (!scanner.consume_if('}')) {
    std::string_view key;
    if (!scanner.token(key)) return std::nullopt;
    const unsigned which = key == ":from" ? 1 : key == ":to" ? 2 : key == ":amount" ? 4 : 8;
    const bool read = which == 1   ? scanner.value(transfer.from)
                      : which == 2 ? scanner.value(transfer.to)
                      : which == 4 ? scanner.integer(transfer.amount)
                                   : false;
    if (!read || (seen & which) != 0) return std::nullopt;
    seen |= which;
  }
  if (seen != 7) return std::nullopt;
  return transfer;
}

std::optional<Balances> balances(EdnScanner scanner) {
  Balances balances;
  if (scanner.peek() == 'n') {
    std::string_view word;
    if (!scanner.token(word) || word != "nil") return std::nullopt;
    return balances;
  }
  auto& accounts = balances.accounts.emplace();
  if (!scanner.consume('{')) return std::nullopt;
  while (!scanner.consume_if('}')) {
    auto& [account, amount] = accounts.emplace_back();
    if (!scanner.value(account) || !scanner.integer(amount)) return std::nullopt;
  }
  std::sort(accounts.begin(), accounts.end(),
            [](const auto& a, const auto& b) { return value_less(a.first, b.first); });
  const auto twice =
      std::adjacent_find(accounts.begin(), accounts.end(),
                         [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != accounts.end()) return std::nullopt;
  return balances;
}

bool strings(EdnScanner& scanner, std::vector<std::string>& out) {
  if (!scanner.consume('[')) return false;
  while (!scanner.consume_if(']')) {
    if (!scanner.string(out.emplace_back())) return false;
  }
  return true;
}

bool action(EdnScanner& scanner, FaultAction& out) {
  std::string_view name;
  if (!scanner.token(name) || (name != ":inject" && name != ":heal")) return false;
  out = name == ":heal" ? FaultAction::heal : FaultAction::inject;
  return true;
}

std::string* text_of(FaultEvent& event, std::string_view key) {
  if (key == ":fault") return &event.fault;
  if (key == ":detail") return &event.detail;
  if (key == ":direction") return &event.direction;
  if (key == ":share") return &event.share;
  if (key == ":effect") return &event.effect;
  return key == ":seen-direction" ? &event.seen_direction : nullptr;
}

std::optional<FaultEvent> fault(EdnScanner scanner) {
  FaultEvent event;
  bool has_action = false;
  if (!scanner.consume('{')) return std::nullopt;
  while (!scanner.consume_if('}')) {
    std::string_view key;
    if (!scanner.token(key)) return std::nullopt;
    has_action = has_action || key == ":action";
    const bool read = key == ":action"                 ? action(scanner, event.action)
                      : key == ":hosts"                ? strings(scanner, event.hosts)
                      : key == ":legs"                 ? strings(scanner, event.legs)
                      : text_of(event, key) != nullptr ? scanner.string(*text_of(event, key))
                                                       : false;
    if (!read) return std::nullopt;
  }
  if (event.fault.empty() || !has_action) return std::nullopt;
  return event;
}

std::string edn(const MicroOp& op) {
  std::string value = op.list ? "[" : op.value.text();
  if (op.list) {
    for (const Value element : *op.list) {
      if (value.size() > 1) value += ' ';
      value += element.text();
    }
    value += ']';
  }
  return fmt::format("[:{} {} {}]", micro_function_name(op.function), op.key.text(), value);
}

std::string edn(const Txn& txn) {
  std::string text = "[";
  for (const auto& op : txn.micro_ops) {
    if (text.size() > 1) text += ' ';
    text += edn(op);
  }
  return text + ']';
}

std::string edn(const Transfer& transfer) {
  return fmt::format("{{:from {}, :to {}, :amount {}}}", transfer.from.text(), transfer.to.text(),
                     transfer.amount);
}

std::string edn(const Balances& balances) {
  if (!balances.accounts) return "nil";
  std::string text = "{";
  for (const auto& [account, amount] : *balances.accounts) {
    if (text.size() > 1) text += ", ";
    text += fmt::format("{} {}", account.text(), amount);
  }
  return text + '}';
}

std::string edn(const std::vector<std::string>& strings) {
  std::string text = "[";
  for (const std::string& each : strings) {
    if (text.size() > 1) text += ' ';
    text += edn_string(each);
  }
  return text + ']';
}

std::string edn(const FaultEvent& event) {
  std::string text =
      fmt::format("{{:fault {}, :action {}, :hosts {}, :detail {}", edn_string(event.fault),
                  event.action == FaultAction::heal ? ":heal" : ":inject", edn(event.hosts),
                  edn_string(event.detail));
  if (!event.legs.empty()) text += ", :legs " + edn(event.legs);
  if (!event.direction.empty()) text += ", :direction " + edn_string(event.direction);
  if (!event.share.empty()) text += ", :share " + edn_string(event.share);
  if (!event.effect.empty()) text += ", :effect " + edn_string(event.effect);
  if (!event.seen_direction.empty()) {
    text += ", :seen-direction " + edn_string(event.seen_direction);
  }
  return text + '}';
}

std::string edn(const Opaque& opaque) { return opaque.edn; }

}  // namespace

Payload edn_payload(std::string_view function, std::string_view text) {
  EdnScanner scanner(text);
  if (function == "transfer") {
    if (auto payload = transfer(scanner)) return *std::move(payload);
  } else if (function == "read") {
    if (auto payload = balances(scanner)) return *std::move(payload);
  }
  if (scanner.peek() == '{') {
    if (auto payload = fault(scanner)) return *std::move(payload);
  }
  Opaque opaque;
  scanner.form(opaque.edn);
  return opaque;
}

std::string payload_edn(const Payload& payload) {
  return std::visit([](const auto& alternative) { return edn(alternative); }, payload);
}

}  // namespace ordeal
