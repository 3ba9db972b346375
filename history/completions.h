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

// What the invocation says and the completion lacks: the value, or the elements of appends and
// writes. What an ok transaction read is not known then, so it is left out: a read of nil would be
// one of the empty list. As OperationAdder does it while it reads.
void supply(Operation& completion, const Operation& invocation);

// The first completion of the history that cannot complete its invocation, in words; "" for none.
std::string first_mismatch(const History& history);

}  // namespace ordeal
