// Verdicts for people on a terminal: the sentence that matters first, then models, counts, what was
// found, what still holds, and where to read on. Bounded: long lists are shortened around the place
// that differs, and only the first examples of an anomaly are printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "report/judgement.h"

namespace ordeal {

struct TextStyle {
  bool colour = false;            // ANSI escapes; the caller knows whether it writes to a terminal
  std::size_t anomalies_max = 3;  // explained; the others are only counted
};

// "INVALID: not serializable: G2-item (12 times)". Without newline.
std::string verdict_sentence(const CheckResult& result);

// Several lines, each ended by a newline.
std::string verdict_text(const Judgement& judgement, const TextStyle& style);
// `report_path` may be empty.
std::string verdict_text(const RunVerdict& verdict, std::string_view report_path,
                         const TextStyle& style);

}  // namespace ordeal
