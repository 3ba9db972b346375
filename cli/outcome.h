// From verdicts and errors to exit codes and messages.
#pragma once

#include "base/result.h"
#include "checkers/checker.h"

namespace ordeal {

int exit_code_of(Validity validity);  // 0 valid, 1 invalid, 2 unknown
// Prints "ordeal: <message>" to stderr and returns the exit code of its kind.
int complain(const Error& error);

}  // namespace ordeal
