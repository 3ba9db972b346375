// Reads JSON histories: an object a line, or one array of objects, with the keys of Jepsen's EDN.
// Each operation is turned into EDN and goes the way of read_edn() from there.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "history/edn_operations.h"
#include "history/formats.h"
#include "history/json_values.h"

namespace ordeal {
namespace {

using Json = nlohmann::json;

// Deeper nesting than any history has; bounds the stack of what turns JSON into EDN.
constexpr int kDepthMax = 500;
constexpr std::string_view kTooDeep = "expected fewer levels of nesting";

// The place of the first bracket past kDepthMax, npos where there is none. In text that is no JSON
// it may be wrong, but only after the parser's first mistake.
std::size_t too_deep_at(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\') {
      ++at;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kDepthMax) return at;
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return std::string_view::npos;
}

// "" on success.
std::string add_operation(const Json& object, EdnOperations& operations) {
  if (std::string wrong = wrong_with(object); !wrong.empty()) return wrong;
  const std::string edn = operation_edn(object);
  EdnScanner scanner(edn);
  if (operations.read(scanner)) return "";
  return fmt::format("{}, found `{}`", scanner.expected(), edn.substr(scanner.at(), 40));
}

Result<ReadHistory> read_lines(std::string_view bytes, std::string_view name) {
  ReadHistory result;
  EdnOperations operations;
  std::size_t line = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    ++line;
    const std::size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view text = bytes.substr(at, end - at);
    at = end + 1;
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (too_deep_at(text) != std::string_view::npos) {
      return bad_input("{}:{}: {}", name, line, kTooDeep);
    }
    const Json object = Json::parse(text, nullptr, false);
    if (object.is_discarded() && end == bytes.size()) {
      result.warnings.push_back(
          fmt::format("the history {} ends within line {}, which is left out; the {} operations "
                      "before it are kept",
                      name, line, operations.size()));
      break;
    }
    const std::string wrong = object.is_discarded() ? "expected a whole JSON object a line"
                                                    : add_operation(object, operations);
    if (!wrong.empty()) return bad_input("{}:{}: {}", name, line, wrong);
  }
  result.history = operations.build();
  return result;
}

// Hands each operation on as soon as it is complete and drops it, so that no tree of the file is
// built.
class ArrayReader {
 public:
  Result<ReadHistory> read(std::string_view bytes, std::string_view name) {
    ReadHistory result;
    if (const std::size_t at = too_deep_at(bytes); at != std::string_view::npos) {
      return bad_input("{}: byte {}: {}", name, at + 1, kTooDeep);
    }
    try {
      const Json empty =
          Json::parse(bytes, [this](int depth, Json::parse_event_t event, Json& value) {
            return keep(depth, event, value);
          });
    } catch (const Json::parse_error& error) {
      if (wrong_.empty() && error.byte <= bytes.size()) {
        return bad_input("the history {} is no JSON at byte {}: expected an array of operations",
                         name, error.byte);
      }
      result.warnings.push_back(fmt::format(
          "the history {} ends before its array does; the {} operations that are complete are kept",
          name, operations_.size()));
    }
    if (!wrong_.empty()) return bad_input("{}: operation {}: {}", name, count_, wrong_);
    result.history = operations_.build();
    return result;
  }

 private:
  bool keep(int depth, Json::parse_event_t event, const Json& value) {
    const bool element = depth == 1 && (event == Json::parse_event_t::object_end ||
                                        event == Json::parse_event_t::array_end ||
                                        event == Json::parse_event_t::value);
    if (!element) return true;
    if (!wrong_.empty()) return false;
    wrong_ = add_operation(value, operations_);
    if (wrong_.empty()) ++count_;
    return false;
  }

  EdnOperations operations_;
  std::size_t count_ = 0;  // operations before the one at hand
  std::string wrong_;
};

}  // namespace

Result<ReadHistory> read_json(std::string_view bytes, std::string_view name) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '[')
    return ArrayReader().read(bytes, name);
  return read_lines(bytes, name);
}

}  // namespace ordeal
