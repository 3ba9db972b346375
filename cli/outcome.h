// From verdicts and errors to exit codes and messages.
#pragma once

#include <string>

#include "base/result.h"
#include "checkers/checker.h"

namespace ordeal {

int exit_code_of(Validity validity);  // 0 valid, 1 invalid, 2 unknown
// To stdout. A reader that went away changes neither the exit code nor what follows; that it can't
// be written otherwise is told by finish().
void print_result(const std::string& text);
// Flushes stdout at the end of the program: `code`, or 255 and a message if something that was
// printed could not be written: nobody may take silence for a verdict.
int finish(int code);
// Where stdin, stdout or stderr were closed, files opened later would take their place.
void keep_standard_streams();
// Prints "ordeal: <message>" to stderr and returns the exit code of its kind.
int complain(const Error& error);

}  // namespace ordeal
