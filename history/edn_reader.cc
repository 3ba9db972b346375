// Reads Jepsen's EDN histories: operations one after the other, or one vector of them.
#include <algorithm>

#include "history/edn_operations.h"
#include "history/formats.h"

namespace ordeal {
namespace {

std::size_t line_of(std::string_view bytes, std::size_t at) {
  const std::string_view before = bytes.substr(0, at);
  return 1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
}

// Up to the end of the line, and no more than fits into a message.
std::string_view excerpt(std::string_view bytes, std::size_t at) {
  const std::string_view rest = bytes.substr(at, 40);
  return rest.substr(0, rest.find_first_of("\r\n"));
}

std::string cut_off(std::string_view name, std::size_t line, std::size_t kept) {
  return fmt::format(
      "the history {} ends within the operation that starts in line {}, which is left out; "
      "the {} operations before it are kept",
      name, line, kept);
}

}  // namespace

Result<ReadHistory> read_edn(std::string_view bytes, std::string_view name) {
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  EdnScanner scanner(bytes);
  EdnOperations operations;
  ReadHistory result;
  scanner.skip_tags();
  const char close = scanner.peek() == '[' ? ']' : scanner.peek() == '(' ? ')' : '\0';
  if (close != '\0') scanner.consume_if(scanner.peek());
  bool closed = false;
  std::size_t begin = scanner.at();
  while (!scanner.failed() && scanner.peek() != '\0') {
    closed = close != '\0' && scanner.consume_if(close);
    if (closed) break;
    begin = scanner.at();
    operations.read(scanner);
  }
  if (scanner.truncated()) {
    result.warnings.push_back(cut_off(name, line_of(bytes, begin), operations.size()));
  } else if (scanner.failed() || (closed && scanner.peek() != '\0')) {
    return bad_input("{}:{}: {}, found `{}`", name, line_of(bytes, scanner.at()),
                     scanner.failed() ? scanner.expected() : "expected nothing after the vector",
                     excerpt(bytes, scanner.at()));
  } else if (close != '\0' && !closed) {
    result.warnings.push_back(
        fmt::format("the vector of the history {} is not closed, as when its end is missing; the "
                    "{} operations that "
                    "are there are kept",
                    name, operations.size()));
  }
  result.history = operations.build();
  return result;
}

}  // namespace ordeal
