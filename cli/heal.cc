// ordeal heal: undo the faults that a killed run left behind, from its heal journal.
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/outcome.h"
#include "nemesis/journal.h"
#include "orchestrator/lab/lab.h"
#include "orchestrator/store.h"

namespace ordeal {
namespace {

Status check_run(const RunFolder& folder) {
  std::error_code ignored;
  for (const auto& file : {folder.campaign(), folder.lab(), folder.journal()}) {
    if (std::filesystem::exists(file, ignored)) return {};
  }
  return bad_input("{}: expected the folder of a run, e.g. store/latest", folder.path.string());
}

// Nothing is left to undo the faults on; from now on the journal says so too.
Status forget(const std::vector<PendingUndo>& left, const RunFolder& folder, const Lab& lab) {
  ORDEAL_TRY_ASSIGN(const auto journal, HealJournal::open(folder.journal()));
  for (const PendingUndo& undo : left) ORDEAL_TRY(journal->healed(undo.id));
  fmt::print("lab {} is gone, and its faults with it\n", lab.name);
  return {};
}

Result<std::vector<Replayed>> undo_on(const Lab& lab, const RunFolder& folder) {
  ORDEAL_TRY(enter_control_namespace(lab));
  const Cluster cluster = make_cluster(lab);
  return replay(folder.journal(), cluster);
}

// Prints each fault healed, and complains of each that could not be; the exit code.
int tell(const std::vector<Replayed>& replayed) {
  int code = 0;
  for (const auto& [undo, outcome] : replayed) {
    if (outcome) {
      fmt::print("healed {}: {}\n", undo.fault, undo.detail);
    } else {
      code = std::max(code, complain(outcome.error()));
    }
  }
  return code;
}

Result<int> heal(const RunFolder& folder) {
  ORDEAL_TRY(check_run(folder));
  ORDEAL_TRY_ASSIGN(const auto left, pending(folder.journal()));
  if (left.empty()) {
    fmt::print("nothing to heal\n");
    return 0;
  }
  ORDEAL_TRY_ASSIGN(const Lab lab, load_lab(folder.lab()));
  if (!lab_is_left(lab)) {
    ORDEAL_TRY(forget(left, folder, lab));
    return 0;
  }
  ORDEAL_TRY_ASSIGN(const auto replayed, undo_on(lab, folder));
  return tell(replayed);
}

int heal_or_complain(const std::string& run) {
  const auto code = heal(RunFolder{run, ""});
  return code ? *code : complain(code.error());
}

}  // namespace

void add_heal(CLI::App& app, Action& action) {
  auto run = std::make_shared<std::string>();
  auto* command = app.add_subcommand("heal", "Undo the faults that a run left behind");
  command->footer("Example: ordeal heal store/latest");
  command->add_option("run", *run, "The run's folder")->required();
  command->callback([run, &action] { action = [run] { return heal_or_complain(*run); }; });
}

}  // namespace ordeal
