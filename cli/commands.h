// The commands of the program, one file each: options as parsed from the command line, and the exit
// code as the result. Results go to stdout; logs and progress to stderr.
//
// Exit codes: 0 valid, 1 invalid, 2 unknown, 3 surroundings failed, 254 bad arguments or input, 255
// internal error, or stdout could not be written.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace ordeal {

inline constexpr const char* kVersion = "0.1.0";

// Each adds its subcommand to `app`, and sets `action` when the user chose it.
using Action = std::function<int()>;
void add_run(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_report(CLI::App& app, Action& action);
void add_convert(CLI::App& app, Action& action);
void add_heal(CLI::App& app, Action& action);
void add_hosts(CLI::App& app, Action& action);
void add_lab(CLI::App& app, Action& action);
void add_list(CLI::App& app, Action& action);
void add_matrix(CLI::App& app, Action& action);
void add_proxy(CLI::App& app, Action& action);

// The command line that is running, for reproducing it; begins with the program as it was typed.
const std::vector<std::string>& command_arguments();

}  // namespace ordeal
