// The loop that follows a schedule in time.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "nemesis/engine.h"
#include "nemesis/schedule.h"

namespace ordeal {

// Waits until so long after chaos began; false when stopped before. Passed in, so that tests need
// no time.
using WaitUntil = std::function<bool(std::chrono::milliseconds since_start, std::stop_token stop)>;
WaitUntil wait_on_steady_clock(std::chrono::steady_clock::time_point chaos_start);

// Injects each fault when it is due, heals it when its time is over, and goes on after failures
// (each is in the record). A healing that failed is tried again a second later, up to five times.
// Returns the first failure of a healing's last try, or `stopped` soon after a stop was requested.
// An injection that failed was undone, and is told in the record alone: whether the run tested
// enough is for the vacuity check. `begun` is set to how many faults of the schedule were tried.
// Faults may be active then: the caller ends with FaultEngine::heal_all().
Status run_schedule(FaultEngine& engine, std::span<const ScheduledFault> schedule,
                    const WaitUntil& wait_until, std::stop_token stop,
                    std::size_t* begun = nullptr);

}  // namespace ordeal
