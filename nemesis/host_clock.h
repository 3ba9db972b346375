// Fault `host-clock-skew`: the wall clock of a whole host jumps by a drawn offset (clock_settime),
// and is put right by the monotonic clock. For hosts with a clock of their own; the program that
// does it (nemesis/clock_helper.cc) refuses elsewhere, too.
#pragma once

#include <string>

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry host_clock_skew_fault();

// That program, in base64: it needs no file beside Ordeal, and goes onto a host as text. For hosts
// of the architecture that Ordeal was built for.
std::string clock_helper_base64();

// Puts the clock of a host right that a run left moved, whatever run it was; prints a line for
// each. Exit status 1 where that fails. Does nothing on a host whose clock nobody moved.
Command restore_clock_now();

}  // namespace ordeal
