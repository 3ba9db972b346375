// From verdicts and errors to exit codes and messages.
#pragma once

#include <string>

#include "base/result.h"
#include "checkers/checker.h"

namespace ordeal {

int exit_code_of(Validity validity);  // 0 valid, 1 invalid, 2 unknown
// To stdout. A reader that went away changes neither the exit code nor what follows.
void print_result(const std::string& text);
// Prints "ordeal: <message>" to stderr and returns the exit code of its kind.
int complain(const Error& error);

}  // namespace ordeal
