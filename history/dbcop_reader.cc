// Reads the JSON histories of dbcop: an array of sessions, each an array of transactions
//
//   {"events": [{"Write": {"variable": 0, "version": 1}}, {"Read": {...}}], "committed": true}
//
// or, as its first version has them,
//
//   {"events": [{"write": true, "variable": 0, "value": 1, "success": true}], "success": true}
//
// bare, or as the "data" of an object. See docs/importing.md for where the format is from.
#include <algorithm>
#include <optional>

#include "history/edn.h"
#include "history/formats.h"
#include "history/json_scanner.h"
#include "history/register_sessions.h"

namespace ordeal {
namespace {

struct DbcopEvent {
  std::optional<bool> write;
  std::optional<Value> variable;
  std::optional<Value> value;
  bool success = true;
};

class DbcopReader {
 public:
  DbcopReader(std::string_view bytes, std::string_view name)
      : bytes_(bytes), name_(name), scanner_(bytes) {}

  Result<ReadHistory> read() {
    if (!whole() && scanner_.failed()) {
      if (!scanner_.truncated()) return wrong();
      result_.warnings.push_back(fmt::format(
          "the history {} ends before its sessions do; the {} transactions that are there are kept",
          name_, sessions_.size()));
    }
    result_.history = sessions_.build(first_version_);
    return std::move(result_);
  }

 private:
  bool whole() {
    if (scanner_.peek() == '[') return all_sessions() && at_end();
    bool has_data = false;
    const bool read = object([&](const std::string& key) {
      if (key != "data") return scanner_.skip_value();
      has_data = true;
      return all_sessions();
    });
    return read && (has_data || scanner_.fail_at(0, "expected an object with \"data\"")) &&
           at_end();
  }

  bool at_end() {
    const bool end = scanner_.peek() == '\0' &&
                     scanner_.rest().find_first_not_of('\0') == std::string_view::npos;
    return end || scanner_.fail("expected nothing behind the history");
  }

  // Calls `field` with each key; it reads the value.
  template <class Field>
  bool object(Field&& field) {
    if (!scanner_.enter('{')) return false;
    std::string key;
    for (bool first = true; scanner_.next(first, '}');) {
      key.clear();
      if (!scanner_.key(key) || !field(key)) return false;
    }
    return !scanner_.failed();
  }

  template <class Element>
  bool array(Element&& element) {
    if (!scanner_.enter('[')) return false;
    for (bool first = true; scanner_.next(first, ']');) {
      if (!element()) return false;
    }
    return !scanner_.failed();
  }

  bool all_sessions() {
    return array([&] {
      ++session_;
      return array([&] { return transaction(); });
    });
  }

  bool transaction() {
    events_.clear();
    bool committed = true;
    const bool read = object([&](const std::string& key) {
      if (key == "events") return array([&] { return event(); });
      if (key == "committed" || key == "success") return boolean(committed);
      return scanner_.skip_value();
    });
    if (!read) return false;
    const ProcessId session{session_};
    const auto id = sessions_.begin(session, committed ? Phase::ok : Phase::fail);
    for (const auto& event : events_) {
      if (event.success || !committed) {
        add(id, event);
      } else if (*event.write) {  // it alone did not happen
        add(sessions_.begin(session, Phase::fail), event);
      }
    }
    return true;
  }

  void add(RegisterSessions::Id id, const DbcopEvent& event) {
    if (*event.write) return sessions_.write(id, *event.variable, *event.value);
    sessions_.read(id, *event.variable, *event.value);
  }

  bool event() {
    DbcopEvent& event = events_.emplace_back();
    const bool read = object([&](const std::string& key) {
      if (key == "Read" || key == "Write") {
        event.write = key == "Write";
        return object([&](const std::string& inner) { return field(inner, event); });
      }
      return field(key, event);
    });
    if (!read) return false;
    return (event.write && event.variable && event.value) ||
           scanner_.fail("expected an event with what it does, a variable and a version");
  }

  bool field(const std::string& key, DbcopEvent& event) {
    if (key == "variable") return scalar(event.variable.emplace());
    if (key == "version") return scalar(event.value.emplace());
    if (key == "value") return first_version_ = true, scalar(event.value.emplace());
    if (key == "write") return boolean(event.write.emplace());
    if (key == "success") return boolean(event.success);
    return scanner_.skip_value();
  }

  bool boolean(bool& out) {
    std::string_view word;
    const char first = scanner_.peek();
    if (!scanner_.failed() && first != 't' && first != 'f' && first != '\0') {
      return scanner_.fail("expected true or false");
    }
    scanner_.word(word);
    out = word == "true";
    return !scanner_.failed();
  }

  // An integer, a string, or null, which is what nobody has written.
  bool scalar(Value& out) {
    std::string text;
    std::string_view token;
    const char first = scanner_.peek();
    if (first == '"') {
      if (!scanner_.string(text)) return false;
      return out = Value::symbol(edn_string(text)), true;
    }
    const std::size_t at = scanner_.at();
    if (first == 'n' && scanner_.word(token)) return out = Value(), true;
    if (first != '-' && first != '\0' && (first < '0' || first > '9')) {
      return scanner_.fail("expected a number, a string or null");
    }
    if (!scanner_.number(token)) return false;
    EdnScanner number(token);
    return number.value(out) || scanner_.fail_at(at, "expected a number");
  }

  tl::unexpected<Error> wrong() const {
    const std::string_view before = bytes_.substr(0, scanner_.at());
    const auto lines = std::count(before.begin(), before.end(), '\n');
    std::string_view found = scanner_.rest().substr(0, 40);
    found = found.substr(0, found.find_first_of("\r\n"));
    return bad_input("{}:{}: {}, found `{}` (byte {})", name_, lines + 1, scanner_.expected(),
                     found, scanner_.at() + 1);
  }

  std::string_view bytes_;
  std::string_view name_;
  JsonScanner scanner_;
  std::int64_t session_ = -1;       // the one at hand
  bool first_version_ = false;      // where a register is 0 at first
  std::vector<DbcopEvent> events_;  // of the transaction at hand
  RegisterSessions sessions_;
  ReadHistory result_;
};

}  // namespace

Result<ReadHistory> read_dbcop(std::string_view bytes, std::string_view name) {
  bytes = without_bom(bytes);
  return DbcopReader(bytes, name).read();
}

}  // namespace ordeal
