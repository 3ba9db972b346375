#include "history/json_operations.h"

#include <charconv>

#include "history/edn.h"

namespace ordeal {
namespace {

bool is_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

std::string string_edn(std::string_view text) {
  const bool keyword = text.size() > 1 && text.front() == ':';
  std::string edn = keyword ? edn_keyword(text.substr(1)) : "";
  return edn.starts_with(':') ? edn : edn_string(text);
}

// `form` if that is one whole form in EDN, else a string of it: `1} {` must not escape from its
// place.
std::string form_or_string(std::string_view form) {
  std::string canonical;
  EdnScanner scanner(form);
  const bool whole = scanner.form(canonical) && scanner.peek() == '\0' && scanner.at_end();
  return whole ? canonical : edn_string(form);
}

// How deep in the operation's value: only the elements of it can be micro-operations.
enum class Level : std::uint8_t { value, element, deeper };

bool append_value(JsonScanner& scanner, std::string& edn, Level level = Level::deeper);

// The words that Jepsen writes as keywords, where one of them is expected.
bool append_word(JsonScanner& scanner, std::string& edn) {
  if (scanner.peek() != '"') return append_value(scanner, edn);
  std::string text;
  if (!scanner.string(text)) return false;
  edn += edn_keyword(text.starts_with(':') ? std::string_view(text).substr(1) : text);
  return true;
}

// Numbers, null, true, ...
bool append_atom(JsonScanner& scanner, std::string& edn) {
  std::string_view text;
  const char first = scanner.peek();
  const bool number =
      (first >= '0' && first <= '9') || (first == '-' && !scanner.rest().starts_with("-I"));
  if (!(number ? scanner.number(text) : scanner.word(text))) return false;
  if (text == "null") text = "nil";
  if (text == "NaN") text = "##NaN";
  if (text == "Infinity") text = "##Inf";
  if (text == "-Infinity") text = "##-Inf";
  edn += text;
  return true;
}

// A micro-operation is an array of three that begins with one of its names.
bool append_array(JsonScanner& scanner, std::string& edn, Level level) {
  const Level inner = level == Level::value ? Level::element : Level::deeper;
  const std::size_t begin = edn.size() + 1;
  std::size_t count = 0;
  edn += '[';
  if (!scanner.enter('[')) return false;
  for (bool first = true; scanner.next(first, ']'); ++count) {
    if (count > 0) edn += ' ';
    if (!append_value(scanner, edn, inner)) return false;
  }
  if (scanner.failed()) return false;
  edn += ']';
  if (count != 3 || level != Level::element) return true;
  for (const std::string_view name : {"r", "append", "w"}) {
    if (std::string_view(edn).substr(begin, name.size() + 3) != '"' + std::string(name) + "\" ") {
      continue;
    }
    edn.replace(begin, name.size() + 2, ' ' + (':' + std::string(name)));
  }
  return true;
}

bool append_object(JsonScanner& scanner, std::string& edn) {
  const std::size_t begin = edn.size();
  std::size_t count = 0;
  std::string key;
  std::string form;
  bool is_form = false;
  edn += '{';
  if (!scanner.enter('{')) return false;
  for (bool first = true; scanner.next(first, '}'); ++count) {
    key.clear();
    if (!scanner.key(key)) return false;
    if (count > 0) edn += ", ";
    edn += json_key_edn(key) + ' ';
    is_form = key == "edn" && scanner.peek() == '"';
    if (is_form) {
      form.clear();
      if (!scanner.string(form)) return false;
      edn += edn_string(form);
    } else if (!(key == "action" ? append_word(scanner, edn) : append_value(scanner, edn))) {
      return false;
    }
  }
  if (scanner.failed()) return false;
  edn += '}';
  if (count == 1 && is_form) edn.replace(begin, edn.npos, form_or_string(form));
  return true;
}

bool append_value(JsonScanner& scanner, std::string& edn, Level level) {
  const char first = scanner.peek();
  if (first == '[') return append_array(scanner, edn, level);
  if (first == '{') return append_object(scanner, edn);
  if (first != '"') return append_atom(scanner, edn);
  std::string text;
  if (!scanner.string(text)) return false;
  edn += string_edn(text);
  return true;
}

}  // namespace

std::string json_key_edn(const std::string& key) {
  // The keys of transfers and faults are keywords, numbers are accounts.
  for (const std::string_view known : {"from", "to", "amount", "fault", "action", "hosts", "detail",
                                       "legs", "direction", "share", "effect", "seen-direction"}) {
    if (key == known) return ':' + key;
  }
  return is_integer(key) ? key : string_edn(key);
}

bool append_operation_edn(JsonScanner& scanner, std::string& edn) {
  bool has_type = false;
  bool has_process = false;
  std::string key;
  if (scanner.peek() != '{') return scanner.fail("expected an operation, an object");
  const std::size_t begin = scanner.at();
  if (!scanner.enter('{')) return false;
  edn += '{';
  for (bool first = true; scanner.next(first, '}');) {
    key.clear();
    if (!scanner.key(key)) return false;
    has_type = has_type || key == "type";
    has_process = has_process || key == "process";
    edn += ' ' + edn_keyword(key) + ' ';
    const bool word = key == "type" || key == "f" || key == "process";
    const Level level = key == "value" ? Level::value : Level::deeper;
    if (!(word ? append_word(scanner, edn) : append_value(scanner, edn, level))) return false;
  }
  if (scanner.failed()) return false;
  edn += '}';
  if (!has_type) return scanner.fail_at(begin, "expected an operation with a \"type\"");
  return has_process || scanner.fail_at(begin, "expected an operation with a \"process\"");
}

}  // namespace ordeal
