// The anomalies of a verdict as HTML: grouped by type, each with its explanation, the cycle as a
// picture, and the operations that take part in it, with their times and the faults active then.
#pragma once

#include <string>
#include <vector>

#include "report/facts.h"
#include "report/judgement.h"

namespace ordeal {

// "" where the checker found none.
std::string anomalies_html(const CheckResult& result, const History& history,
                           const std::vector<FaultSpan>& faults);

}  // namespace ordeal
