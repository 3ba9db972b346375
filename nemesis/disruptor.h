// The loop that follows a schedule in time.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <span>
#include <stop_token>

#include "base/result.h"
#include "nemesis/engine.h"
#include "nemesis/schedule.h"

namespace ordeal {

// Time since chaos began. Passed in, so that tests need none.
struct ChaosClock {
  std::function<std::chrono::milliseconds()> now;
  // False when stopped before. Called by one thread, `now` by several.
  std::function<bool(std::chrono::milliseconds since_start, std::stop_token stop)> wait_until;
};
ChaosClock steady_chaos_clock(std::chrono::steady_clock::time_point chaos_start);

struct DisruptorSettings {
  ChaosClock clock;
  // Where the schedule has a time without faults between two, so much of it is left when the first
  // one is healed late.
  std::chrono::milliseconds recovery{0};
  OutageCaps outage_max{};
  // Injections and healings run on threads of their own, since one may take seconds to be seen
  // while another is due. Deferred: one after the other.
  std::launch launch = std::launch::async;
};

// Injects each fault when it is due, heals it once it was held for its duration after its effect
// was seen, or earlier where a cap demands it, and goes on after failures (each is in the record).
// A fault waits for one of the same name to be healed, and where its leg's outage will not last
// long enough to see it, for the end of that. A healing that failed is tried
// again a second later, up to five times. Returns the first failure of a healing's last try, or
// `stopped` soon after a stop was requested. An injection that failed was undone, and is told in
// the record alone: whether the run tested enough is for the vacuity check. `begun` is set to how
// many faults of the schedule were tried. Faults may be active then: the caller ends with
// FaultEngine::heal_all().
Status run_schedule(FaultEngine& engine, std::span<const ScheduledFault> schedule,
                    const DisruptorSettings& settings, std::stop_token stop,
                    std::size_t* begun = nullptr);

}  // namespace ordeal
