#include "history/edn_parser.h"

namespace ordeal {

void EdnParser::clear() {
  lists_.forget_places();
  parsed_.clear();
}

bool EdnParser::read(EdnScanner& scanner) {
  scanner.skip_tags();
  ParsedOperation operation;
  scanner.peek();
  operation.at = scanner.at();
  operation.micro_begin = parsed_.micro_ops.size();
  seen_ = 0;
  if (!scanner.consume('{')) return false;
  while (!scanner.consume_if('}')) {
    if (!field(scanner, operation)) return false;
  }
  const bool has_phase = (seen_ & kPhase) != 0;
  if (!has_phase || (seen_ & kProcess) == 0) {
    scanner.rewind(operation.at);
    return scanner.fail(has_phase ? "expected an operation with a :process"
                                  : "expected an operation with a :type");
  }
  if (!operation.is_txn) parsed_.micro_ops.resize(operation.micro_begin);
  operation.micro_size = parsed_.micro_ops.size() - operation.micro_begin;
  parsed_.operations.push_back(operation);
  return true;
}

bool EdnParser::field(EdnScanner& scanner, ParsedOperation& operation) {
  std::string_view key;
  if (scanner.peek() == '"') return scanner.skip_form() && scanner.skip_form();
  const std::size_t begin = scanner.at();
  if (!scanner.token(key)) return false;
  const Field field = field_of(key);
  if ((seen_ & field) != 0) return scanner.refuse(begin, "expected each key of an operation once");
  seen_ |= field;
  switch (field) {
    case kIndex:
      return index(scanner, operation);
    case kTime:
      return scanner.peek() == 'n' ? scanner.skip_form() : scanner.integer(operation.time);
    case kPhase:
      return phase(scanner, operation);
    case kProcess:
      return process(scanner, operation);
    case kFunction:
      return word(scanner, operation.function);
    case kValue:
      return value(scanner, operation);
    case kNote:
      return note(scanner, operation);
    case kOther:
      break;
  }
  return scanner.skip_form();
}

EdnParser::Field EdnParser::field_of(std::string_view key) {
  if (key == ":index") return kIndex;
  if (key == ":time") return kTime;
  if (key == ":type") return kPhase;
  if (key == ":process") return kProcess;
  if (key == ":f") return kFunction;
  if (key == ":value") return kValue;
  return key == ":error" ? kNote : kOther;
}

bool EdnParser::index(EdnScanner& scanner, ParsedOperation& operation) {
  if (scanner.peek() == 'n') return scanner.skip_form();
  if (!scanner.integer(operation.index.emplace())) return false;
  if (*operation.index < 0) operation.index.reset();  // as Jepsen prints what has none
  return true;
}

bool EdnParser::process(EdnScanner& scanner, ParsedOperation& operation) {
  if (scanner.peek() != ':') return scanner.integer(operation.process.value);
  std::string_view name;
  const std::size_t begin = scanner.at();
  if (scanner.token(name) && name == ":nemesis") return operation.process = kNemesis, true;
  if (!scanner.at_end()) scanner.rewind(begin);
  return scanner.fail("expected a process number or :nemesis");
}

bool EdnParser::phase(EdnScanner& scanner, ParsedOperation& operation) {
  std::string_view name;
  scanner.peek();
  const std::size_t begin = scanner.at();
  if (scanner.peek() == ':' && scanner.token(name)) {
    name.remove_prefix(1);
    for (const Phase phase : {Phase::invoke, Phase::ok, Phase::fail, Phase::info}) {
      if (name == phase_name(phase)) return operation.phase = phase, true;
    }
    if (!scanner.at_end()) scanner.rewind(begin);
  }
  return scanner.fail("expected :invoke, :ok, :fail or :info");
}

// A keyword or string without what marks it as one; "" for nil; any other form as it is.
bool EdnParser::word(EdnScanner& scanner, std::string_view& out) {
  const char first = scanner.peek();
  if (first == '"') {
    std::string& text = parsed_.strings.emplace_back();
    if (!scanner.string(text)) return false;
    return out = text, true;
  }
  if (first == ':') {
    if (!scanner.token(out)) return false;
    return out.remove_prefix(1), true;
  }
  std::string& text = parsed_.strings.emplace_back();
  if (!scanner.form(text)) return false;
  out = text == "nil" ? std::string_view() : std::string_view(text);
  return true;
}

bool EdnParser::note(EdnScanner& scanner, ParsedOperation& operation) {
  if (scanner.peek() != ':') return word(scanner, operation.note);
  return scanner.token(operation.note);
}

// A transaction is read at once, whatever :f is, since nearly all values are one; others are only
// marked.
bool EdnParser::value(EdnScanner& scanner, ParsedOperation& operation) {
  scanner.peek();
  if (scanner.failed()) return false;
  const std::size_t begin = scanner.at();
  parsed_.micro_ops.resize(operation.micro_begin);
  operation.value = {};
  operation.not_txn_at = 0;
  operation.is_txn = txn(scanner);
  if (operation.is_txn) return true;
  if (scanner.truncated() || scanner.refused()) return false;
  scanner.rewind(begin);
  if (scanner.peek() == '[' || scanner.peek() == '(') operation.not_txn_at = micro_at_;
  if (!scanner.skip_form()) return false;
  operation.value = scanner.text(begin, scanner.at());
  return true;
}

bool EdnParser::txn(EdnScanner& scanner) {
  char close = '\0';
  if (!scanner.open_sequence(close)) return false;
  while (!scanner.consume_if(close)) {
    micro_at_ = scanner.at();
    if (!micro_op(scanner)) return false;
  }
  return true;
}

// [:r k v], [:append k v] or [:w k v]
bool EdnParser::micro_op(EdnScanner& scanner) {
  std::string_view name;
  ParsedMicroOp op;
  char close = '\0';
  if (!scanner.open_sequence(close)) return scanner.fail("expected [");
  if (scanner.peek() != ':' || !scanner.token(name)) return false;
  if (name == ":append") {
    op.function = MicroFunction::append;
  } else if (name == ":w") {
    op.function = MicroFunction::write;
  } else if (name != ":r") {
    return false;
  }
  if (!scanner.value(op.key)) return false;
  const char next = scanner.peek();
  op.has_list = op.function == MicroFunction::read && (next == '[' || next == '(');
  if (!(op.has_list ? lists_.read(scanner, op, parsed_) : scanner.value(op.value))) return false;
  parsed_.micro_ops.push_back(op);
  return scanner.consume(close);
}

}  // namespace ordeal
