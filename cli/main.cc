// Entry point: parses the command line, runs the chosen command, turns what escapes into exit
// codes.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "cli/commands.h"

namespace ordeal {
namespace {

std::vector<std::string>& arguments() {
  static std::vector<std::string> list;
  return list;
}

int main_checked(int argc, char** argv) {
  arguments().assign(argv, argv + argc);
  CLI::App app("Finds out whether a distributed database keeps its promises.", "ordeal");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  Action action;
  for (const auto add :
       {add_run, add_check, add_report, add_convert, add_heal, add_lab, add_list}) {
    add(app, action);
  }
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
  try {
    return ordeal::main_checked(argc, argv);
  } catch (const std::exception& error) {
    const std::string line =
        fmt::format("ordeal: internal error: {}; please report this\n", error.what());
    std::fputs(line.c_str(), stderr);
    return 255;
  }
}
