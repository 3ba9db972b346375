// The run over time as one SVG: a lane for each kind of fault, then operations a second by
// outcome and latency quantiles, each with a scale of its own, since a handful of unknown
// outcomes matters beside thousands that succeed. Faults are shaded through all of them. Hovering
// names a bucket's figures.
#pragma once

#include <string>

#include "report/facts.h"

namespace ordeal {

// "" where the history has no times to plot.
std::string timeline_svg(const HistoryFacts& facts);

}  // namespace ordeal
