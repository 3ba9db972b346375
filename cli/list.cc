// ordeal list: what there is to choose from, with the settings of each.
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/cycles/models.h"
#include "cli/commands.h"
#include "cli/judge.h"
#include "nemesis/needs.h"

namespace ordeal {
namespace {

// "(one of one, some, all; default some)".
std::string bounds(const OptionSpec& option) {
  std::vector<std::string> parts;
  if (!option.choices.empty()) {
    parts.push_back(fmt::format("one of {}", fmt::join(option.choices, ", ")));
  }
  if (!option.default_value.empty()) {
    parts.push_back(fmt::format("default {}", option.default_value));
  }
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; "));
}

void print_facts(const FaultEntry& fault) {
  const std::string_view needs = need_words(fault.need);
  fmt::print("    strikes {}{}{}\n", fault.strikes == Strikes::legs ? "legs" : "servers",
             needs.empty() ? "" : "; needs ", needs);
}

void print_facts(const TargetEntry& target) {
  fmt::print("    roles: {}; legs: {}\n", fmt::join(target.roles, ", "),
             fmt::join(target.legs, ", "));
}

template <class Entry>
void print_facts(const Entry&) {}

template <class Entries>
void print_entries(const Entries& entries) {
  for (const auto& entry : entries) {
    fmt::print("{}\n    {}\n", entry.name, entry.summary);
    print_facts(entry);
    for (const auto& option : entry.options) {
      fmt::print("    {:<24} {}{}\n", option.name, option.summary, bounds(option));
    }
  }
}

// With its stronger forms, which have no entry of their own.
void print_model(const cycles::ModelInfo& model) {
  const std::string aliases =
      model.aliases.empty() ? "" : fmt::format(" ({})", fmt::join(model.aliases, ", "));
  fmt::print("{}{}\n", model.name, aliases);
  const std::string forbids = fmt::format("{}", fmt::join(model.forbids, ", "));
  const std::string implies = fmt::format("{}", fmt::join(model.implies, ", "));
  fmt::print("    rules out {}{}{}\n", forbids, forbids.empty() || implies.empty() ? "" : ", and ",
             implies.empty() ? "" : "what any of these does: " + implies);
  std::vector<std::string> forms;
  for (const auto& form : cycles::models()) {
    if (form.form_of == model.name) forms.push_back(form.name);
  }
  if (!forms.empty()) fmt::print("    stronger: {}\n", fmt::join(forms, ", "));
}

void print_models() {
  for (const auto& model : cycles::models()) {
    if (model.form_of.empty()) print_model(model);
  }
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
