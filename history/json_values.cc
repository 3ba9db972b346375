#include "history/json_values.h"

#include <charconv>

#include "history/edn.h"
#include "history/edn_payload.h"

namespace ordeal {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;

bool is_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::string string_edn(const std::string& text) {
  return text.size() > 1 && text.front() == ':' ? edn_keyword(text.substr(1)) : edn_string(text);
}

// The words that Jepsen writes as keywords, where one of them is expected.
std::string word_edn(const Json& word) {
  if (!word.is_string()) return word.dump();
  const auto& text = word.get_ref<const std::string&>();
  return edn_keyword(text.starts_with(':') ? text.substr(1) : text);
}

std::string value_edn(const Json& value);

bool is_micro_op(const Json& value) {
  if (!value.is_array() || value.size() != 3 || !value[0].is_string()) return false;
  const auto& name = value[0].get_ref<const std::string&>();
  return name == "r" || name == "append" || name == "w";
}

std::string array_edn(const Json& array) {
  const bool micro_op = is_micro_op(array);
  std::string text = "[";
  for (const auto& element : array) {
    if (text.size() > 1) text += ' ';
    text += micro_op && text.size() == 1 ? word_edn(element) : value_edn(element);
  }
  return text + ']';
}

// The keys of transfers and faults are keywords, numbers are accounts.
std::string key_edn(const std::string& key) {
  for (const std::string_view known :
       {"from", "to", "amount", "fault", "action", "hosts", "detail"}) {
    if (key == known) return ':' + key;
  }
  return is_integer(key) ? key : string_edn(key);
}

std::string object_edn(const Json& object) {
  if (object.size() == 1 && object.contains("edn") && object["edn"].is_string()) {
    // Only a whole form may stand here: `1} {` must not escape from its place.
    const auto& edn = object["edn"].get_ref<const std::string&>();
    EdnScanner scanner(edn);
    std::string form;
    return scanner.form(form) && scanner.peek() == '\0' ? form : edn_string(edn);
  }
  std::string text = "{";
  for (const auto& [key, value] : object.items()) {
    if (text.size() > 1) text += ", ";
    text += key_edn(key) + ' ' + (key == "action" ? word_edn(value) : value_edn(value));
  }
  return text + '}';
}

std::string value_edn(const Json& value) {
  if (value.is_null()) return "nil";
  if (value.is_string()) return string_edn(value.get_ref<const std::string&>());
  if (value.is_array()) return array_edn(value);
  if (value.is_object()) return object_edn(value);
  return value.dump();
}

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
    const bool plain = key.is_string() && key_edn(key.get<std::string>()) == account.text();
    if (!account.is_integer() && !plain) return {{"edn", payload_edn(Payload(balances))}};
    object[account.is_integer() ? account.text() : key.get<std::string>()] = amount;
  }
  return object;
}

OrderedJson json(const FaultEvent& event) {
  return {{"fault", event.fault},
          {"action", event.action == FaultAction::heal ? "heal" : "inject"},
          {"hosts", event.hosts},
          {"detail", event.detail}};
}

OrderedJson json(const Opaque& opaque) {
  if (opaque.edn == "nil") return nullptr;
  return {{"edn", opaque.edn}};
}

}  // namespace

std::string wrong_with(const Json& object) {
  if (!object.is_object()) return "expected an operation, an object";
  for (const std::string_view name : {"type", "process"}) {
    if (!object.contains(name)) return "expected an operation with a \"" + std::string(name) + '"';
  }
  return "";
}

std::string operation_edn(const Json& object) {
  std::string text = "{";
  for (const auto& [key, value] : object.items()) {
    const bool word = key == "type" || key == "f" || (key == "process" && value.is_string());
    if (word && value.is_null()) continue;
    text += ' ' + edn_keyword(key) + ' ' + (word ? word_edn(value) : value_edn(value));
  }
  return text + '}';
}

OrderedJson operation_json(const Operation& operation) {
  OrderedJson object{{"index", operation.index},
                     {"time", operation.time.count()},
                     {"type", phase_name(operation.phase)},
                     {"process", operation.process.value},
                     {"f", operation.function}};
  if (operation.process == kNemesis) object["process"] = "nemesis";
  object["value"] =
      std::visit([](const auto& payload) { return json(payload); }, operation.payload);
  if (!operation.note.empty()) object["error"] = operation.note;
  return object;
}

}  // namespace ordeal
