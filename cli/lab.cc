// ordeal lab: hosts on this machine for working by hand, and cleaning up after killed runs.
#include "orchestrator/lab/lab.h"

#include <memory>

#include "cli/commands.h"
#include "cli/outcome.h"

namespace ordeal {
namespace {

struct LabArguments {
  std::string name = "default";
  std::string kind = "netns";
  int hosts = 3;
  std::string host;
  std::vector<std::string> command;
};

int up(const LabArguments& arguments) {
  LabRequest request{arguments.kind, arguments.name, {}, true};
  for (int i = 1; i <= arguments.hosts; ++i) request.hosts.push_back(fmt::format("n{}", i));
  const auto lab = lab_up(request);
  if (!lab) return complain(lab.error());
  for (const auto& host : lab->hosts) fmt::print("{} {}\n", host.name, host.address);
  return 0;
}

int down(const LabArguments& arguments) {
  const Status stale = lab_down_stale();
  const Status named = lab_down(arguments.name);
  if (!stale) return complain(stale.error());
  return named ? 0 : complain(named.error());
}

int exec(const LabArguments& arguments) {
  const auto status = lab_exec(arguments.name, arguments.host, arguments.command);
  return status ? *status : complain(status.error());
}

using LabCommand = int (*)(const LabArguments&);

CLI::App* add(CLI::App& lab, const char* name, const char* summary, LabCommand command,
              const std::shared_ptr<LabArguments>& arguments, Action& action) {
  auto* app = lab.add_subcommand(name, summary);
  app->add_option("--name", arguments->name, "Name of the lab")->capture_default_str();
  app->callback([arguments, command, &action] {
    action = [arguments, command] { return command(*arguments); };
  });
  return app;
}

}  // namespace

void add_lab(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<LabArguments>();
  auto* lab = app.add_subcommand("lab", "Hosts on this machine");
  lab->require_subcommand(1);
  lab->footer(
      "Examples:\n"
      "  ordeal lab up --hosts 3\n"
      "  ordeal lab exec n1 -- ip address\n"
      "  ordeal lab down");
  auto* up_app = add(*lab, "up", "Bring up hosts n1, n2, ...", up, arguments, action);
  up_app->add_option("--hosts", arguments->hosts, "How many")
      ->check(CLI::Range(1, 50))
      ->capture_default_str();
  up_app->add_option("--kind", arguments->kind, "netns or local")
      ->check(CLI::IsMember({"netns", "local"}));
  add(*lab, "down", "Remove the lab, and whatever killed runs left", down, arguments, action);
  auto* exec_app =
      add(*lab, "exec", "Run a program on a host (or on ctl)", exec, arguments, action);
  exec_app->add_option("host", arguments->host, "n1, n2, ... or ctl")->required();
  exec_app->add_option("command", arguments->command, "After --: program and arguments")
      ->required();
}

}  // namespace ordeal
