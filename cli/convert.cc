// ordeal convert: from one history format to another, by extension.
#include <memory>

#include "cli/commands.h"
#include "cli/outcome.h"
#include "history/reader.h"
#include "history/writer.h"

namespace ordeal {
namespace {

int convert(const std::string& from, const std::string& to) {
  const auto read = read_history(from);
  if (!read) return complain(read.error());
  for (const auto& warning : read->warnings) fmt::print(stderr, "ordeal: warning: {}\n", warning);
  const Status written = write_history(to, read->history, read->header);
  return written ? 0 : complain(written.error());
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto files = std::make_shared<std::pair<std::string, std::string>>();
  auto* command = app.add_subcommand("convert", "Convert a history between formats");
  command->footer("Example: ordeal convert store/latest/history.ohist history.edn");
  command->add_option("in", files->first, "History to read")->required();
  command->add_option("out", files->second, "File to write: .ohist, .edn, .json or .jsonl")
      ->required();
  command->callback(
      [files, &action] { action = [files] { return convert(files->first, files->second); }; });
}

}  // namespace ordeal
