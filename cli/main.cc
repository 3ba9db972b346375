// Entry point: parses the command line, runs the chosen command, turns what escapes into exit
// codes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "base/names.h"
#include "cli/commands.h"
#include "cli/outcome.h"

namespace ordeal {
namespace {

std::vector<std::string>& arguments() {
  static std::vector<std::string> list;
  return list;
}

// CLI11 would only say that it did not expect the argument.
Status check_command(const CLI::App& app) {
  if (arguments().size() < 2 || arguments()[1].starts_with('-')) return {};
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), arguments()[1]) != names.end()) return {};
  const std::vector<std::string_view> known(names.begin(), names.end());
  return bad_input("{}", unknown_name("command", arguments()[1], known));
}

int main_checked(int argc, char** argv) {
  arguments().assign(argv, argv + argc);
  CLI::App app("Finds out whether a distributed database keeps its promises.", "ordeal");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  Action action;
  for (const auto add : {add_run, add_check, add_report, add_convert, add_heal, add_hosts, add_lab,
                         add_list, add_matrix, add_proxy}) {
    add(app, action);
  }
  if (const Status known = check_command(app); !known) return complain(known.error());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 254;
  }
  return action();
}

}  // namespace

const std::vector<std::string>& command_arguments() { return arguments(); }

}  // namespace ordeal

int main(int argc, char** argv) {
  ordeal::keep_standard_streams();
  try {
    return ordeal::finish(ordeal::main_checked(argc, argv));
  } catch (const std::exception& error) {
    const std::string line =
        fmt::format("ordeal: internal error: {}; please report this\n", error.what());
    std::fputs(line.c_str(), stderr);
    return 255;
  }
}
