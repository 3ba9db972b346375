// ordeal heal: undo the faults that a killed run left behind, from its heal journal.
#include <memory>

#include "cli/commands.h"
#include "cli/outcome.h"
#include "nemesis/journal.h"
#include "orchestrator/lab/lab.h"
#include "orchestrator/store.h"

namespace ordeal {
namespace {

Result<std::vector<Replayed>> replay_run(const RunFolder& folder) {
  if (!std::filesystem::is_directory(folder.path)) {
    return bad_input("{}: expected the folder of a run, e.g. store/latest", folder.path.string());
  }
  ORDEAL_TRY_ASSIGN(const auto left, pending(folder.journal()));
  if (left.empty()) return std::vector<Replayed>();
  ORDEAL_TRY_ASSIGN(const Lab lab, load_lab(folder.lab()));
  ORDEAL_TRY(enter_control_namespace(lab));
  const Cluster cluster = make_cluster(lab);
  return replay(folder.journal(), cluster);
}

int heal(const std::string& run) {
  const auto replayed = replay_run(RunFolder{run, ""});
  if (!replayed) return complain(replayed.error());
  int code = 0;
  for (const auto& [undo, outcome] : *replayed) {
    if (outcome) {
      fmt::print("healed {}: {}\n", undo.fault, undo.detail);
    } else {
      code = std::max(code, complain(outcome.error()));
    }
  }
  if (replayed->empty()) fmt::print("nothing to heal\n");
  return code;
}

}  // namespace

void add_heal(CLI::App& app, Action& action) {
  auto run = std::make_shared<std::string>();
  auto* command = app.add_subcommand("heal", "Undo the faults that a run left behind");
  command->footer("Example: ordeal heal store/latest");
  command->add_option("run", *run, "The run's folder")->required();
  command->callback([run, &action] { action = [run] { return heal(*run); }; });
}

}  // namespace ordeal
