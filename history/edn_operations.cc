#include "history/edn_operations.h"

#include <algorithm>

#include "history/edn_payload.h"

namespace ordeal {

struct EdnOperations::Fields {
  std::optional<std::int64_t> index;
  std::int64_t time = 0;
  std::optional<ProcessId> process;
  std::optional<Phase> phase;
  std::string function;
  std::string note;
  bool is_txn = false;          // micro_forms_ holds the value
  std::size_t not_txn_at = 0;   // where a vector stops being a transaction; 0 for other values
  std::size_t value_begin = 0;  // its text in the scanner; both 0 where there is none
  std::size_t value_end = 0;
};

bool EdnOperations::read(EdnScanner& scanner) {
  scanner.skip_tags();
  if (!scanner.consume('{')) return false;
  Fields fields;
  const std::size_t begin = scanner.at();
  while (!scanner.consume_if('}')) {
    if (!field(scanner, fields)) return false;
  }
  const std::size_t end = scanner.at();
  if (!fields.phase || !fields.process) {
    scanner.rewind(begin - 1);
    return scanner.fail(fields.phase ? "expected an operation with a :process"
                                     : "expected an operation with a :type");
  }
  if (!add(scanner, fields)) return false;
  scanner.rewind(end);
  return true;
}

bool EdnOperations::field(EdnScanner& scanner, Fields& fields) {
  std::string_view key;
  if (scanner.peek() == '"') return scanner.skip_form() && scanner.skip_form();
  if (!scanner.token(key)) return false;
  if (key == ":index") {
    if (scanner.peek() == 'n') return scanner.skip_form();
    return scanner.integer(fields.index.emplace());
  }
  if (key == ":time") {
    if (scanner.peek() == 'n') return scanner.skip_form();
    return scanner.integer(fields.time);
  }
  if (key == ":process") return process(scanner, fields);
  if (key == ":type") return phase(scanner, fields);
  if (key == ":f") return function(scanner, fields);
  if (key == ":value") return value(scanner, fields);
  if (key == ":error") return note(scanner, fields);
  return scanner.skip_form();
}

bool EdnOperations::process(EdnScanner& scanner, Fields& fields) {
  if (scanner.peek() != ':') return scanner.integer(fields.process.emplace().value);
  std::string_view name;
  const std::size_t begin = scanner.at();
  if (scanner.token(name) && name == ":nemesis") return fields.process = kNemesis, true;
  if (!scanner.at_end()) scanner.rewind(begin);
  return scanner.fail("expected a process number or :nemesis");
}

bool EdnOperations::phase(EdnScanner& scanner, Fields& fields) {
  std::string_view name;
  scanner.peek();
  const std::size_t begin = scanner.at();
  if (scanner.peek() == ':' && scanner.token(name)) {
    name.remove_prefix(1);
    for (const Phase phase : {Phase::invoke, Phase::ok, Phase::fail, Phase::info}) {
      if (name == phase_name(phase)) return fields.phase = phase, true;
    }
    if (!scanner.at_end()) scanner.rewind(begin);
  }
  return scanner.fail("expected :invoke, :ok, :fail or :info");
}

bool EdnOperations::function(EdnScanner& scanner, Fields& fields) {
  if (scanner.peek() == '"') return scanner.string(fields.function);
  fields.function.clear();
  if (!scanner.form(fields.function)) return false;
  if (fields.function == "nil") fields.function.clear();
  if (fields.function.starts_with(':')) fields.function.erase(0, 1);
  return true;
}

bool EdnOperations::note(EdnScanner& scanner, Fields& fields) {
  if (scanner.peek() == '"') return scanner.string(fields.note);
  if (!scanner.form(fields.note)) return false;
  if (fields.note == "nil") fields.note.clear();
  return true;
}

// A transaction is read at once, whatever :f is, since nearly all values are one; others are only
// marked.
bool EdnOperations::value(EdnScanner& scanner, Fields& fields) {
  scanner.peek();
  if (scanner.failed()) return false;
  fields.value_begin = scanner.at();
  fields.is_txn = txn(scanner);
  if (!fields.is_txn) {
    if (scanner.truncated()) return false;
    scanner.rewind(fields.value_begin);
    if (scanner.peek() == '[') fields.not_txn_at = micro_begin_;
    if (!scanner.skip_form()) return false;
  }
  fields.value_end = scanner.at();
  return true;
}

bool EdnOperations::txn(EdnScanner& scanner) {
  micro_forms_.clear();
  elements_.clear();
  if (!scanner.consume_if('[')) return false;
  while (!scanner.consume_if(']')) {
    micro_begin_ = scanner.at();
    if (!micro_op(scanner)) return false;
  }
  return true;
}

// [:r k v], [:append k v] or [:w k v]
bool EdnOperations::micro_op(EdnScanner& scanner) {
  std::string_view name;
  MicroForm form;
  if (!scanner.consume('[') || scanner.peek() != ':' || !scanner.token(name)) return false;
  if (name == ":append") {
    form.function = MicroFunction::append;
  } else if (name == ":w") {
    form.function = MicroFunction::write;
  } else if (name != ":r") {
    return false;
  }
  if (!scanner.value(form.key)) return false;
  const char next = scanner.peek();
  form.has_list = form.function == MicroFunction::read && (next == '[' || next == '(');
  if (!(form.has_list ? list(scanner, form) : scanner.value(form.value))) return false;
  micro_forms_.push_back(form);
  return scanner.consume(']');
}

bool EdnOperations::list(EdnScanner& scanner, MicroForm& form) {
  const char close = scanner.peek() == '[' ? ']' : ')';
  form.list_begin = elements_.size();
  scanner.consume_if(close == ']' ? '[' : '(');
  while (!scanner.consume_if(close)) {
    if (!scanner.value(elements_.emplace_back())) return false;
  }
  form.list_end = elements_.size();
  return true;
}

bool EdnOperations::add(EdnScanner& scanner, const Fields& fields) {
  if (builder_.function_count() > 0xfff0) return scanner.fail("expected fewer different :f");
  if (fields.not_txn_at != 0 && fields.function == "txn") {
    // As Opaque, no checker would see it.
    scanner.rewind(fields.not_txn_at);
    return scanner.fail("expected [:r key value], [:append key value] or [:w key value] in a :txn");
  }
  Event event;
  event.index = fields.index ? static_cast<std::uint64_t>(*fields.index) : size();
  event.time_ns = fields.time;
  event.process = *fields.process;
  event.phase = *fields.phase;
  event.function = builder_.function_id(fields.function);
  if (fields.is_txn && (!micro_forms_.empty() || fields.function == "txn")) {
    add_micro_ops();
    builder_.add_txn(event, fields.note);
    return true;
  }
  const std::string_view text =
      fields.value_end == 0 ? "nil" : scanner.text(fields.value_begin, fields.value_end);
  builder_.add_other(event, edn_payload(fields.function, text), fields.note);
  return true;
}

void EdnOperations::add_micro_ops() {
  for (const auto& form : micro_forms_) {
    StoredMicroOp stored{form.value, builder_.key_id(form.key), 0, 0, form.function, form.has_list};
    if (form.has_list) {
      const auto elements = std::span<const Value>(elements_).subspan(
          form.list_begin, form.list_end - form.list_begin);
      const auto list = builder_.add_list(stored.key, {}, elements);
      stored.list = list.list;
      stored.length = list.length;
    }
    builder_.add_micro_op(stored);
  }
}

}  // namespace ordeal
