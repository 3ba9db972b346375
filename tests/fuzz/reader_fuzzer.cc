// Any bytes as a history file of one format: they are read or refused, with and without repair; and
// what was read survives being written and read again, in each format of text.
#include <cstdio>
#include <cstdlib>

#include "history/formats.h"
#include "history/writer.h"

namespace ordeal {
namespace {

std::vector<Operation> operations_of(const History& history) {
  std::vector<Operation> operations;
  for (Position at = 0; at < history.size(); ++at) operations.push_back(history.operation(at));
  return operations;
}

[[noreturn]] void differs(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

void survives(const std::vector<Operation>& operations, std::string (*line)(const Operation&),
              std::string_view format) {
  std::string text;
  for (const auto& operation : operations) text += line(operation) + '\n';
  if (text.empty()) return;
  const auto again = read_bytes(text, "again", {format, false});
  if (!again) differs(again.error().message.c_str(), text);
  const auto read = operations_of(again->history);
  for (std::size_t at = 0; at < operations.size() && at < read.size(); ++at) {
    if (read[at] != operations[at]) differs("differs", line(operations[at]) + line(read[at]));
  }
  if (read.size() != operations.size()) differs("operations are missing", text);
}

void read(std::string_view bytes, bool repair) {
  const auto history = read_bytes(bytes, "fuzz", {FUZZED_FORMAT, repair});
  if (!history) return;
  const auto operations = operations_of(history->history);
  survives(operations, edn_line, "edn");
  // JSON is UTF-8, and has no other way to hold bytes that are not.
  bool utf8 = true;
  for (const auto& operation : operations) {
    utf8 = utf8 && json_line(operation).find("\xef\xbf\xbd") == std::string::npos;
  }
  if (utf8) survives(operations, json_line, "json");
}

}  // namespace
}  // namespace ordeal

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ordeal::read(bytes, false);
  ordeal::read(bytes, true);
  return 0;
}
