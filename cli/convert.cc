// ordeal convert: from one history format to another, by extension.
#include <memory>

#include "cli/commands.h"
#include "cli/outcome.h"
#include "history/reader.h"
#include "history/writer.h"

namespace ordeal {
namespace {

struct ConvertArguments {
  std::string from;
  std::string to;
  std::string format = "auto";
  bool repair = false;
};

int convert(const ConvertArguments& arguments) {
  const auto read = read_history(arguments.from, {arguments.format, arguments.repair});
  if (!read) return complain(read.error());
  for (const auto& warning : read->warnings) fmt::print(stderr, "ordeal: warning: {}\n", warning);
  if (read->damaged && !arguments.repair) {
    const auto error = bad_input(
        "{} is damaged, and no other format can say so: what is converted could be judged valid; "
        "judge this file, or convert what is left of it with --repair",
        arguments.from);
    return complain(error.value());
  }
  const Status written = write_history(arguments.to, read->history, read->header);
  return written ? 0 : complain(written.error());
}

}  // namespace

void add_convert(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ConvertArguments>();
  auto* command = app.add_subcommand("convert", "Convert a history between formats");
  command->footer("Example: ordeal convert store/latest/history.ohist history.edn");
  command->add_option("in", arguments->from, "History to read")->required();
  command->add_option("out", arguments->to, "File to write: .ohist, .edn, .json or .jsonl")
      ->required();
  command->add_option("--format", arguments->format, "Of `in`; see `ordeal check --help`")
      ->check(CLI::IsMember({"auto", "ordeal", "edn", "json", "plume", "dbcop"}));
  command->add_flag("--repair", arguments->repair,
                    "Mend a history that is not as it was recorded, and say what was changed");
  command->callback([arguments, &action] { action = [arguments] { return convert(*arguments); }; });
}

}  // namespace ordeal
