// The first sweep in time: faults that were drawn, one after the other, or a few at once where they
// don't meet.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

#include "nemesis/schedule.h"

namespace ordeal {

// Whether the two strike different hosts or legs, so that neither hides what the other does.
bool are_apart(const Fault& a, const Fault& b, const Terrain& terrain);

struct SweepBounds {
  std::chrono::milliseconds recovery;  // without faults, between those that are not held together
  std::size_t at_once_max;
  std::chrono::milliseconds window;
};

// The given faults with a start, from 0, in order of it. Of faults that are held together, each is
// injected when the effect of the one before was seen. Where the window is too short, durations and
// recovery shrink; where that is not enough, all starts do.
std::vector<ScheduledFault> lay_out_sweep(const std::vector<ScheduledFault>& drawn,
                                          const Terrain& terrain, const SweepBounds& bounds);

// When the last of them is healed.
std::chrono::milliseconds last_healed(const std::vector<ScheduledFault>& scheduled);

}  // namespace ordeal
