// Verdicts as JSON, specified in docs/verdict-format.md. The same verdict gives the same bytes.
// Values keep their kind: integers are numbers, EDN strings and keywords are strings. Text that
// is no UTF-8 is written with replacement characters, so the output always is valid JSON.
#pragma once

#include <string>

#include "base/result.h"
#include "report/judgement.h"

namespace ordeal {

// One object without a newline at its end; `pretty` indents by two spaces.
std::string verdict_json(const Judgement& judgement, bool pretty);

// verdict.json of a run: the main judgement's fields at top level with the run's overall `valid`,
// plus "run", plus "checkers" where several judged.
std::string verdict_json(const RunVerdict& verdict, bool pretty);

// In place of a verdict where nothing could be judged: {"valid": "unknown", "error": message}.
std::string error_json(const Error& error);

}  // namespace ordeal
