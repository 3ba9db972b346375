// ordeal report: the HTML report of a run's folder, or of a bare history.
#include "report/html/report.h"

#include <memory>

#include "cli/commands.h"
#include "cli/judge.h"
#include "cli/outcome.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

struct ReportArguments {
  std::string source;
  std::string output = "report.html";
};

Status report_run(const fs::path& run, const fs::path& output) {
  std::error_code error;
  const RunFolder folder{fs::canonical(run, error), ""};
  if (error) return bad_input("{}: {}", run.string(), error.message());
  ORDEAL_TRY_ASSIGN(const Campaign campaign, load_campaign(folder.campaign(), {}, all_catalogs()));
  ORDEAL_TRY_ASSIGN(const LoadedHistory loaded, load_history(folder.history(), {}));
  return write_html(output, judge_run(loaded, folder, campaign, {}), loaded.read.history);
}

Status report_history(const fs::path& file, const fs::path& output) {
  ORDEAL_TRY_ASSIGN(const LoadedHistory loaded, load_history(file, {}));
  ORDEAL_TRY_ASSIGN(const CheckerEntry* checker, choose_checker("", loaded));
  ORDEAL_TRY_ASSIGN(const Options options, Options::make(checker->name, checker->options, {}));
  return write_html(output, judge(loaded, *checker, options, {}), loaded.read.history);
}

int report(const ReportArguments& arguments) {
  std::error_code ignored;  // what can't be read is told by the reader
  const bool is_run = fs::is_directory(arguments.source, ignored);
  const Status status = is_run ? report_run(arguments.source, arguments.output)
                               : report_history(arguments.source, arguments.output);
  if (!status) return complain(status.error());
  fmt::print("{}\n", arguments.output);
  return 0;
}

}  // namespace

void add_report(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<ReportArguments>();
  auto* command = app.add_subcommand("report", "Write the HTML report of a run or a history");
  command->footer("Example: ordeal report store/latest -o report.html");
  command->add_option("run", arguments->source, "A run's folder, or a history file")->required();
  command->add_option("-o,--output", arguments->output, "File to write")->capture_default_str();
  command->callback([arguments, &action] { action = [arguments] { return report(*arguments); }; });
}

}  // namespace ordeal
