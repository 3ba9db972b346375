// From what an analysis found to a verdict, the same for lists and registers.
#pragma once

#include <string>

#include "checkers/checker.h"
#include "checkers/cycles/cycle_classes.h"
#include "checkers/cycles/dependencies.h"
#include "checkers/cycles/direct_anomalies.h"

namespace ordeal::cycles {

inline constexpr std::size_t kExamplesMax = 4;  // of a type

// Fills in what was found and which models that leaves, and judges by `result.model`. `doubt` says
// why nothing that was not found is known to be absent; "" where there is no doubt.
// `single_keys` (see single_keys.h) counts for the models as everything does, but is told only
// where nothing else breaks the model: cycles say more.
void judge(CheckResult& result, const Dependencies& dependencies, DirectReport direct,
           const CycleReport& cycles, DirectReport single_keys, std::string doubt);
// Why transactions with these outcomes leave nothing to judge; "" where they do.
std::string nothing_to_judge(const OutcomeCounts& transactions);
// The verdict where there was nothing to analyse.
void judge_unknown(CheckResult& result, std::string why);

}  // namespace ordeal::cycles
