#include "checkers/single_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "history/edn.h"
#include "history/edn_payload.h"

namespace ordeal {
namespace {

using Json = nlohmann::ordered_json;

// Reads values up to `close` into `out`, to the end of the text.
bool rest_of_collection(EdnScanner& scanner, char close, std::vector<Value>& out) {
  while (!scanner.consume_if(close)) {
    if (!scanner.value(out.emplace_back())) return false;
  }
  return scanner.peek() == '\0';
}

}  // namespace

std::string ValueReader::text(Position at) const {
  const Event& event = history_.event(at);
  if (event.kind == PayloadKind::txn) return payload_edn(history_.operation(at).payload);
  return payload_edn(history_.payload(event));
}

Value ValueReader::own_value(Position at) const {
  const std::string edn = text(at);
  EdnScanner scanner(edn);
  Value value;
  return scanner.value(value) ? value : Value();
}

Value ValueReader::value(Position at) const {
  const Event& event = history_.event(at);
  const Value own = own_value(at);
  const bool completion = event.phase != Phase::invoke && event.partner != kNoPosition;
  return own.is_nil() && completion ? own_value(event.partner) : own;
}

Value ValueReader::invoked_value(Position at) const {
  const Position partner = history_.event(at).partner;
  const bool is_ok = partner != kNoPosition && history_.event(partner).phase == Phase::ok;
  return value(is_ok ? partner : at);
}

bool ValueReader::elements(Position at, std::vector<Value>& out) const {
  const std::string edn = text(at);
  if (edn == "nil") return true;
  EdnScanner scanner(edn);
  scanner.skip_tags();  // as of records and sorted sets
  if (scanner.consume_if('[')) return rest_of_collection(scanner, ']', out);
  if (scanner.consume_if('(')) return rest_of_collection(scanner, ')', out);
  return scanner.consume_if('#') && scanner.consume_if('{') &&
         rest_of_collection(scanner, '}', out);
}

bool ValueReader::entries(Position at, std::vector<Value>& out) const {
  const std::string edn = text(at);
  if (edn == "nil") return true;
  EdnScanner scanner(edn);
  scanner.skip_tags();
  return scanner.consume_if('{') && rest_of_collection(scanner, '}', out) && out.size() % 2 == 0;
}

void sort_values(std::vector<Value>& values) {
  std::sort(values.begin(), values.end(), value_less);
}

// The text of an EDN string is that of a JSON string but for EDN's fewer escapes.
Json json_of(Value value) {
  if (value.is_integer()) return value.integer();
  const std::string edn = value.text();
  if (edn == "nil") return nullptr;
  if (edn == "true" || edn == "false") return edn == "true";
  Json parsed = Json::parse(edn, nullptr, /*allow_exceptions=*/false);
  return parsed.is_string() || parsed.is_number_integer() ? parsed : Json(edn);
}

Json json_of(const std::vector<Value>& values) {
  Json array = Json::array();
  for (const Value value : values) array.push_back(json_of(value));
  return array;
}

std::string json_text(const Json& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

std::string interval_set(const std::vector<Value>& sorted) {
  std::string text = "#{";
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[begin].is_integer() && sorted[end].is_integer() &&
           sorted[end].integer() == sorted[end - 1].integer() + 1) {
      ++end;
    }
    if (begin > 0) text += ' ';
    text += sorted[begin].text();
    if (end - begin > 1) text += ".." + sorted[end - 1].text();
    begin = end;
  }
  return text + '}';
}

}  // namespace ordeal
