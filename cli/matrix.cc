// ordeal matrix: a campaign over all combinations of values, or a shard of them, one run after
// another. Each run is an `ordeal run` of its own, so that one that ends badly ends alone.
#include "orchestrator/matrix.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/judge.h"
#include "cli/outcome.h"
#include "orchestrator/store.h"
#include "remote/process.h"

namespace ordeal {
namespace {

struct MatrixArguments {
  std::string file;
  std::string shard = "1/1";
  std::string store = "store";
  bool again = false;
  bool collect = false;
};

// Every run's campaign, before the first one begins.
Status check_campaigns(const Matrix& matrix) {
  for (const MatrixRun& run : matrix.runs) {
    CampaignChanges changes;
    for (std::size_t i = 0; i + 1 < run.arguments.size(); i += 2) {
      const std::string& option = run.arguments[i];
      const std::string& value = run.arguments[i + 1];
      if (option == "--set") changes.assignments.push_back(value);
      if (option == "--scenario") changes.scenario = value;
      if (option == "--complexity") changes.complexity = value;
      if (option == "--schedule") changes.schedule = value;
    }
    if (const auto campaign = load_campaign(matrix.campaign, changes, all_catalogs()); !campaign) {
      return tl::unexpected(
          Error{campaign.error().kind,
                fmt::format("run {} of the matrix: {}", run.number, campaign.error().message)});
    }
  }
  return {};
}

class Runner {
 public:
  Runner(const Matrix& matrix, const MatrixArguments& arguments, Shard shard)
      : matrix_(matrix),
        arguments_(arguments),
        shard_(shard),
        store_(std::filesystem::absolute(arguments.store)) {}

  Result<MatrixResults> all(std::stop_token stop) {
    for (const MatrixRun& run : matrix_.runs) {
      ORDEAL_TRY_ASSIGN(const auto known, read_result(store_, matrix_, run));
      const bool due = shard_.has(run) && !arguments_.collect && (arguments_.again || !known);
      if (known && !due) results_.emplace(run.number, *known);
      if (!due || stop.stop_requested()) continue;
      ORDEAL_TRY(one(run, stop));
    }
    return results_;
  }

 private:
  Status one(const MatrixRun& run, std::stop_token stop) {
    fmt::print(stderr, "ordeal: run {} of {}: {}\n", run.number, matrix_.runs.size(), title(run));
    const std::filesystem::path answer =
        store_ / fmt::format(".matrix-{}-{}", matrix_.name, run.number);
    std::error_code ignored;
    std::filesystem::create_directories(store_, ignored);
    ORDEAL_TRY_ASSIGN(const int exit_code, run_to_file({command(run)}, answer, stop));
    std::ifstream stream(answer);
    const std::string json(std::istreambuf_iterator<char>(stream), {});
    std::filesystem::remove(answer, ignored);
    if (stop.stop_requested()) return {};  // broken off: to be done again
    const MatrixResult result = result_of(run, exit_code, json);
    fmt::print(stderr, "ordeal: run {} of {}: {}{}{}\n", run.number, matrix_.runs.size(),
               result.verdict, result.summary.empty() ? "" : ": ", result.summary);
    results_.emplace(run.number, result);
    return write_result(store_, matrix_, run, result);
  }

  std::string title(const MatrixRun& run) const {
    std::string title;
    for (std::size_t i = 0; i < matrix_.keys.size(); ++i) {
      title += fmt::format("{}{} {}", i == 0 ? "" : ", ", matrix_.keys[i], run.labels[i]);
    }
    return title;
  }

  std::vector<std::string> command(const MatrixRun& run) const {
    std::vector<std::string> command{command_arguments().front(),
                                     "run",
                                     matrix_.campaign.string(),
                                     "--store",
                                     store_.string(),
                                     "--json",
                                     "--quiet"};
    command.insert(command.end(), run.arguments.begin(), run.arguments.end());
    return command;
  }

  const Matrix& matrix_;
  const MatrixArguments& arguments_;
  const Shard shard_;
  const std::filesystem::path store_;
  MatrixResults results_;
};

int run(const MatrixArguments& arguments) {
  const auto shard = parse_shard(arguments.shard);
  if (!shard) return complain(shard.error());
  const auto matrix = load_matrix(arguments.file);
  if (!matrix) return complain(matrix.error());
  if (const Status checked = check_campaigns(*matrix); !checked) return complain(checked.error());
  Interrupts interrupts("\nordeal: stopped at once; the run that was on ends by itself\n");
  const auto results = Runner(*matrix, arguments, *shard).all(interrupts.token());
  if (!results) return complain(results.error());
  print_result(matrix_table(*matrix, *results));
  if (interrupts.token().stop_requested()) return complain(stopped().value());
  return worst_exit_code(*matrix, arguments.collect ? Shard{} : *shard, *results);
}

}  // namespace

void add_matrix(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<MatrixArguments>();
  auto* command = app.add_subcommand("matrix", "Run a campaign over combinations of values");
  command->footer(
      "Examples:\n"
      "  ordeal matrix campaigns/isolation.matrix.yaml\n"
      "  ordeal matrix campaigns/isolation.matrix.yaml --shard 3/8\n"
      "  ordeal matrix campaigns/isolation.matrix.yaml --collect\n"
      "Runs that have a result are not run again: a matrix that was broken off goes on.");
  command->add_option("file", arguments->file, "Matrix file, see docs/scaling-out.md")->required();
  command->add_option("--shard", arguments->shard, "N/M: every Mth run, from the Nth")
      ->capture_default_str();
  command->add_option("--store", arguments->store, "Where runs are kept")->capture_default_str();
  command->add_flag("--again", arguments->again, "Also runs that have a result");
  command->add_flag("--collect", arguments->collect, "Run nothing: the table of all results");
  command->callback([arguments, &action] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace ordeal
