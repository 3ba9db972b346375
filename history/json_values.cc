#include "history/json_values.h"

#include "history/edn.h"
#include "history/edn_payload.h"
#include "history/json_operations.h"

namespace ordeal {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson value_json(Value value) {
  if (value.is_nil()) return nullptr;
  if (value.is_integer()) return value.integer();
  const std::string edn = value.text();
  std::string text;
  EdnScanner scanner(edn);
  if (scanner.peek() == '"' && scanner.string(text) && !text.starts_with(':')) return text;
  if (edn.size() > 1 && edn.front() == ':' && edn_keyword(edn.substr(1)) == edn) return edn;
  return {{"edn", edn}};
}

OrderedJson json(const Txn& txn) {
  auto array = OrderedJson::array();
  for (const auto& op : txn.micro_ops) {
    OrderedJson value = value_json(op.value);
    if (op.list) {
      value = OrderedJson::array();
      for (const Value element : *op.list) value.push_back(value_json(element));
    }
    array.push_back(OrderedJson::array(
        {micro_function_name(op.function), value_json(op.key), std::move(value)}));
  }
  return array;
}

OrderedJson json(const Transfer& transfer) {
  return {{"from", value_json(transfer.from)},
          {"to", value_json(transfer.to)},
          {"amount", transfer.amount}};
}

OrderedJson json(const Balances& balances) {
  if (!balances.accounts) return nullptr;
  auto object = OrderedJson::object();
  for (const auto& [account, amount] : *balances.accounts) {
    OrderedJson key = value_json(account);
    // A key must be a string: numbers as such, a string unless it would be taken for one of them.
    const bool plain = key.is_string() && json_key_edn(key.get<std::string>()) == account.text();
    if (!account.is_integer() && !plain) return {{"edn", payload_edn(Payload(balances))}};
    object[account.is_integer() ? account.text() : key.get<std::string>()] = amount;
  }
  return object;
}

OrderedJson json(const FaultEvent& event) {
  OrderedJson object{{"fault", event.fault},
                     {"action", event.action == FaultAction::heal ? "heal" : "inject"},
                     {"hosts", event.hosts},
                     {"detail", event.detail}};
  if (!event.legs.empty()) object["legs"] = event.legs;
  if (!event.direction.empty()) object["direction"] = event.direction;
  if (!event.share.empty()) object["share"] = event.share;
  if (!event.effect.empty()) object["effect"] = event.effect;
  if (!event.seen_direction.empty()) object["seen-direction"] = event.seen_direction;
  return object;
}

OrderedJson json(const Opaque& opaque) {
  if (opaque.edn == "nil") return nullptr;
  return {{"edn", opaque.edn}};
}

}  // namespace

OrderedJson operation_json(const Operation& operation) {
  OrderedJson object{{"index", operation.index},
                     {"time", operation.time.count()},
                     {"type", phase_name(operation.phase)},
                     {"process", operation.process.value},
                     {"f", operation.function}};
  // The reader takes one colon for that of a keyword.
  if (operation.function.starts_with(':')) object["f"] = ':' + operation.function;
  if (operation.process == kNemesis) object["process"] = "nemesis";
  object["value"] =
      std::visit([](const auto& payload) { return json(payload); }, operation.payload);
  if (!operation.note.empty()) object["error"] = operation.note;
  return object;
}

}  // namespace ordeal
