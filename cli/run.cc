// ordeal run: a campaign from start to verdict.
#include "orchestrator/run.h"

#include <unistd.h>

#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <memory>
#include <random>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/judge.h"
#include "cli/outcome.h"
#include "remote/command.h"
#include "report/html/report.h"
#include "report/verdict_json.h"
#include "report/verdict_text.h"

namespace ordeal {
namespace {

struct RunArguments {
  std::string campaign;
  CampaignChanges changes;
  std::optional<std::uint64_t> seed;
  std::string store = "store";
  bool json = false;
  bool quiet = false;
};

// What the user typed, with the seed that was drawn.
std::string reproducing_command(std::uint64_t seed, bool seed_given) {
  Command command;
  command.arguments = command_arguments();
  if (!seed_given)
    command.arguments.insert(command.arguments.end(), {"--seed", std::to_string(seed)});
  return display(command);
}

// CLI11 would take -1 for the largest number.
const CLI::Validator kSeed(
    [](std::string& text) -> std::string {
      std::uint64_t seed = 0;
      const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
      if (digits && boost::conversion::try_lexical_convert(text, seed)) return "";
      return fmt::format("{}: expected a whole number from 0 to 18446744073709551615", text);
    },
    "SEED");

std::uint64_t draw_seed() {
  std::random_device device;  // short, since people type seeds again
  return device() % 1'000'000'000U;
}

// The path of the report. One that can't be written ("") is told, and changes no verdict.
std::string write_results(const RunFolder& folder, const RunVerdict& verdict,
                          const History& history, Console& console) {
  const Status saved = write_file(folder.verdict(), verdict_json(verdict, true) + "\n");
  const Status reported = write_html(folder.report(), verdict, history);
  for (const auto& status : {saved, reported}) {
    if (!status) console.log().error("{}", status.error().message);
  }
  return reported ? folder.report().string() : "";
}

// How the run ended belongs to its verdict: an incomplete history can show a violation, but not
// that there is none.
void add_what_happened(RunVerdict& verdict, const Campaign& campaign, const RunEnd& end) {
  if (end.interrupted && !verdict.judgements.empty()) {
    verdict.judgements.front().warnings.push_back(
        fmt::format("stopped on request after {} of {}", format_duration(end.duration),
                    format_duration(campaign.settings.duration("duration"))));
  }
  if (end.trouble || verdict.overall == Validity::invalid) return;
  verdict.overall = Validity::unknown;
  verdict.reason = end.trouble.error().message;
}

// `--json` answers with an object in any case.
int give_up(const RunArguments& arguments, const Error& error) {
  if (arguments.json) print_result(error_json(error) + "\n");
  return exit_code(error.kind);
}

int conclude(const RunArguments& arguments, const RunFolder& folder, const Campaign& campaign,
             const RunEnd& end, Console& console, std::stop_token stop) {
  console.status("checking");
  auto loaded = load_history(folder.history(), {"ordeal", false});
  if (!loaded) return complain(loaded.error());
  RunVerdict verdict = judge_run(*loaded, folder, campaign, stop);
  add_what_happened(verdict, campaign, end);
  const std::string report = write_results(folder, verdict, loaded->read.history, console);
  console.status("");
  if (arguments.json) {
    print_result(verdict_json(verdict, false) + "\n");
  } else {
    print_result(verdict_text(verdict, report, {isatty(STDOUT_FILENO) == 1}));
  }
  if (!end.trouble && verdict.overall != Validity::invalid) return complain(end.trouble.error());
  return exit_code_of(verdict.overall);
}

int run(const RunArguments& arguments) {
  const auto campaign = load_campaign(arguments.campaign, arguments.changes, all_catalogs());
  if (!campaign) {
    complain(campaign.error());
    return give_up(arguments, campaign.error());
  }
  const std::uint64_t seed = arguments.seed ? *arguments.seed : draw_seed();
  const auto folder = create_run_folder(std::filesystem::absolute(arguments.store), campaign->name,
                                        seed, std::chrono::system_clock::now());
  if (!folder) return complain(folder.error());

  Console console(arguments.quiet);
  if (const auto status = console.log_to(folder->log()); !status) return complain(status.error());
  const std::string command = reproducing_command(seed, arguments.seed.has_value());
  console.log().info("seed {}, reproduce with: {}", seed, command);
  if (const auto status = write_file(folder->campaign(), campaign->resolved); !status) {
    return complain(status.error());
  }
  Interrupts interrupts(
      fmt::format("\nordeal: stopped at once; faults may still be active: run `ordeal heal {}`, "
                  "then `ordeal lab "
                  "down`\n",
                  folder->path.string()));
  auto end =
      run_campaign({*campaign, *folder, seed, command, kVersion, console, interrupts.token()});
  if (!end) {
    console.log().error("{}", end.error().message);
    console.log().info("nothing was judged; the log is {}; reproduce with: {}",
                       folder->log().string(), command);
    return give_up(arguments, end.error());
  }
  // A stop was meant for chaos: what was recorded is judged all the same.
  return conclude(arguments, *folder, *campaign, *end, console, {});
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  auto* command = app.add_subcommand("run", "Run a campaign and judge it");
  command->footer(
      "Examples:\n"
      "  ordeal run campaigns/quickstart.yaml\n"
      "  ordeal run campaigns/quickstart.yaml --seed 7 --duration 10m --set workers=20");
  command
      ->add_option("campaign", arguments->campaign, "Campaign file, e.g. campaigns/quickstart.yaml")
      ->required();
  command->add_option("--seed", arguments->seed, "Repeat a run; drawn when not given")
      ->check(kSeed);
  command->add_option("--duration", arguments->changes.duration, "Length of chaos, e.g. 60s");
  command->add_option("--complexity", arguments->changes.complexity, "low, medium or high");
  command->add_flag("--no-disruptions", arguments->changes.no_disruptions,
                    "Same run without faults");
  command->add_option("--schedule", arguments->changes.schedule,
                      "A written schedule of faults, e.g. a run's schedule.yaml");
  command->add_option("--scenario", arguments->changes.scenario, "A scenario of the campaign");
  command
      ->add_option("--set", arguments->changes.assignments,
                   "key.of.campaign=value, which is YAML; repeatable")
      ->expected(1)
      ->take_all();
  command->add_option("--store", arguments->store, "Where runs are kept")->capture_default_str();
  command->add_flag("--json", arguments->json, "Print the verdict as JSON");
  command->add_flag("--quiet", arguments->quiet, "No progress, only warnings and the verdict");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace ordeal
