// Which faults a run really brought about, and where: leg × fault × direction, or, for faults of
// servers, how many of them were struck at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "report/facts.h"

namespace ordeal {

struct CoverageRow {
  std::string fault;
  std::string where;  // a leg, or "one server", "some servers", "all servers"
  // Of a leg; of both, the one alone in which there was an effect, where it can be told. Else "".
  std::string direction;
  std::uint64_t times = 0;
  std::uint64_t without_effect = 0;  // these count nowhere else
  Nanoseconds total{0};
  std::string effect;  // of the first time, as it was measured
  friend bool operator==(const CoverageRow&, const CoverageRow&) = default;
};

// In order of fault, place and direction.
std::vector<CoverageRow> fault_coverage(const std::vector<FaultSpan>& spans);

}  // namespace ordeal
