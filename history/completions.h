// What a completion may differ in from its invocation: in what it read, not in what it did.
#pragma once

#include <optional>
#include <string>

#include "history/history.h"

namespace ordeal {

// Why `completion` cannot complete its partner, as what was expected; "" where it can, and for the
// nemesis, whose operations need not come in pairs. The functions and keys of both must be the
// same, in the same order; a completion or invocation without a value fits any.
std::string completion_mismatch(const History& history, Position completion);

// The first completion of the history that cannot complete its invocation, in words; "" for none.
std::string first_mismatch(const History& history);

}  // namespace ordeal
