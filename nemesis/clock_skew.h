// Fault `clock-skew`: the database's wall clock jumps by a drawn offset, through libfaketime, and
// jumps back. The host's clock stays as it is.
#pragma once

#include <chrono>
#include <string>

#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry clock_skew_fault();

// As libfaketime reads it: seconds with sign, "+37.500", "-0.250".
std::string faketime_offset(std::chrono::milliseconds offset);

}  // namespace ordeal
