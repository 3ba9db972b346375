// ordeal list: what there is to choose from, with the settings of each.
#include <memory>

#include "checkers/cycles/models.h"
#include "cli/commands.h"
#include "cli/judge.h"

namespace ordeal {
namespace {

template <class Entries>
void print_entries(const Entries& entries) {
  for (const auto& entry : entries) {
    fmt::print("{}\n    {}\n", entry.name, entry.summary);
    for (const auto& option : entry.options) {
      fmt::print(
          "    {:<24} {}{}\n", option.name, option.summary,
          option.default_value.empty() ? "" : fmt::format(" (default {})", option.default_value));
    }
  }
}

void print_models() {
  for (const auto& name : cycles::model_names()) fmt::print("{}\n", name);
}

int list(const std::string& what) {
  const Catalogs catalogs = all_catalogs();
  if (what == "targets") print_entries(catalogs.targets);
  if (what == "workloads") print_entries(catalogs.workloads);
  if (what == "faults") print_entries(catalogs.faults);
  if (what == "checkers") print_entries(catalogs.checkers);
  if (what == "models") print_models();
  return 0;
}

}  // namespace

void add_list(CLI::App& app, Action& action) {
  auto what = std::make_shared<std::string>();
  auto* command = app.add_subcommand("list", "What there is to choose from");
  command->footer("Example: ordeal list faults");
  command->add_option("what", *what, "targets, workloads, faults, checkers or models")
      ->required()
      ->check(CLI::IsMember({"targets", "workloads", "faults", "checkers", "models"}));
  command->callback([what, &action] { action = [what] { return list(*what); }; });
}

}  // namespace ordeal
