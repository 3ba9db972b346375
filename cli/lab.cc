// ordeal lab: hosts on this machine for working by hand, and cleaning up after killed runs.
#include "orchestrator/lab/lab.h"

#include <memory>

#include "cli/commands.h"
#include "cli/interrupts.h"
#include "cli/outcome.h"
#include "orchestrator/lab/guest_image.h"
#include "orchestrator/lab/vm_backend.h"

namespace ordeal {
namespace {

struct LabArguments {
  std::string name = "default";
  std::string kind = "netns";
  int hosts = 3;
  std::string host;
  std::vector<std::string> command;
  std::string backend = "auto";
  int memory_mib = 512;
  bool again = false;
};

int up(const LabArguments& arguments) {
  LabRequest request{arguments.kind, arguments.name, {}, true};
  request.backend = arguments.backend;
  request.memory_mib = arguments.memory_mib;
  for (int i = 1; i <= arguments.hosts; ++i) request.hosts.push_back(fmt::format("n{}", i));
  const Interrupts interrupts("ordeal: `ordeal lab down` removes what is left");
  const auto lab = lab_up(request, interrupts.token());
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

int image(const LabArguments& arguments) {
  const Interrupts interrupts("ordeal: the next `ordeal lab image` removes what is left");
  const auto image = build_image(
      {arguments.again, [](const std::string& text) { fmt::print(stderr, "{}\n", text); }},
      interrupts.token());
  if (!image) return complain(image.error());
  fmt::print("{}\n", image->string());
  return 0;
}

using LabCommand = int (*)(const LabArguments&);

CLI::App* add(CLI::App& lab, const char* name, const char* summary, LabCommand command,
              const std::shared_ptr<LabArguments>& arguments, Action& action) {
  auto* app = lab.add_subcommand(name, summary);
  if (command != image)
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
      "  ordeal lab image && ordeal lab up --kind vm --hosts 3\n"
      "  ordeal lab exec n1 -- ip address\n"
      "  ordeal lab down");
  auto* up_app = add(*lab, "up", "Bring up hosts n1, n2, ...", up, arguments, action);
  up_app->add_option("--hosts", arguments->hosts, "How many")
      ->check(CLI::Range(1, 50))
      ->capture_default_str();
  up_app->add_option("--kind", arguments->kind, "netns, vm or local")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kLabKinds), std::end(kLabKinds))))
      ->capture_default_str();
  up_app->add_option("--backend", arguments->backend, "What runs guests (vm): auto, kvm, uml, tcg")
      ->check(
          CLI::IsMember(std::vector<std::string>(std::begin(kVmBackends), std::end(kVmBackends))))
      ->capture_default_str();
  up_app->add_option("--memory", arguments->memory_mib, "MiB of each guest (vm)")
      ->check(CLI::Range(128, 65536))
      ->capture_default_str();
  auto* image_app =
      add(*lab, "image", "Build the image that guests (vm) boot", image, arguments, action);
  image_app->add_flag("--again", arguments->again, "Also where it has been built before");
  add(*lab, "down", "Remove the lab, and whatever killed runs left", down, arguments, action);
  auto* exec_app =
      add(*lab, "exec", "Run a program on a host (or on ctl)", exec, arguments, action);
  exec_app->add_option("host", arguments->host, "n1, n2, ... or ctl")->required();
  exec_app->add_option("command", arguments->command, "After --: program and arguments")
      ->required();
}

}  // namespace ordeal
