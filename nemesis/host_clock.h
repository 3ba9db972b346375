// Faults of the wall clock of a whole host (clock_settime), which is put right by the monotonic
// clock: `host-clock-skew` moves it by a drawn offset, `host-clock-strobe` to and fro, and
// `host-clock-drift` makes it run fast or slow. For hosts with a clock of their own; the program
// that does it (nemesis/clock_helper.cc) refuses elsewhere, too.
#pragma once

#include <string>

#include "nemesis/clock_skew.h"
#include "nemesis/nemesis.h"

namespace ordeal {

FaultEntry host_clock_skew_fault();
FaultEntry host_clock_strobe_fault();
FaultEntry host_clock_drift_fault();

// That program, in base64: it needs no file beside Ordeal, and goes onto a host as text. For hosts
// of the architecture that Ordeal was built for.
std::string clock_helper_base64();

// Puts the clock of a host right that a run left moved, whatever run it was; prints a line for
// each. Exit status 1 where that fails. Does nothing on a host whose clock nobody moved.
Command restore_clock_now();

// What a run has on a host. The state is lost when the host reboots, and so is what it says.
struct HostClock {
  std::string program;
  std::string state;
  ClockMover mover;  // of strobe and drift
};
HostClock host_clock_of(const ServerControl& control, const std::string& run_id,
                        const std::string& host);
// How far it is ahead of the true time.
AskedClock asked_clock(const HostClock& clock);
// Also where nobody moved it.
Command restore_host_clock(const HostClock& clock);
Command host_clock_is_right(const HostClock& clock);

}  // namespace ordeal
