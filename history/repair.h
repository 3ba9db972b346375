// What `--repair` does to a history that is not as it was recorded. Where an outcome is taken away,
// the history counts as damaged, and can no longer be judged valid:
//
// - Operations whose indexes are all different, but not in ascending order, are put into that
//   order. Where indexes are used twice, the order of the file stays.
// - Where indexes do not ascend, the operations are numbered anew, from 0.
// - A completion that does something else than its invocation is dropped; the invocation then never
//   completed.
// - A process that invokes while its last invocation is open gets a new number there, as Jepsen's
//   processes do after info.
// - A completion without invocation is dropped if it has no value. Else it stays: nothing is known
//   to have come before it.
#pragma once

#include <string_view>

#include "history/reader.h"

namespace ordeal {

// A warning says for each kind of change how many operations it changed, and which was the first.
ReadHistory repaired(ReadHistory read, std::string_view name);

}  // namespace ordeal
