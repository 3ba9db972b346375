// When faults happen: a pure function of the settings, the seed and the length of chaos, so that
// the same seed plays the same faults however fast the hosts are.
//
// The first sweep touches every fault once, in a drawn order; after it, faults are drawn at random.
// Time is kept free of faults at the start and at the end, so that operations complete before,
// during and after faults. Where chaos is too short for the settings, all times shrink in
// proportion, so that each fault still happens.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "base/result.h"
#include "nemesis/nemesis.h"

namespace ordeal {

struct ScheduleOptions {
  // Mean quiet time between one fault's end and the next one's start; with `overlap`, between
  // starts.
  std::chrono::milliseconds interval{5'000};
  std::chrono::milliseconds duration_min{3'000};
  std::chrono::milliseconds duration_max{10'000};
  std::chrono::milliseconds quiet_start{3'000};  // at most a fifth of chaos; the same for quiet_end
  std::chrono::milliseconds quiet_end{3'000};
  bool overlap = false;  // different faults may be active at once; never twice the same
};

// Settings of a campaign's `schedule:` section, and their reading.
std::span<const OptionSpec> schedule_option_specs();
Result<ScheduleOptions> schedule_options(const Options& options);

// A fault that the campaign lists, with its settings. `entry` is one of fault_catalog().
struct FaultChoice {
  const FaultEntry* entry = nullptr;
  Options options;
};

struct ScheduledFault {
  std::chrono::milliseconds start{0};  // since chaos began
  std::chrono::milliseconds duration{0};
  Fault fault;
  friend bool operator==(const ScheduledFault&, const ScheduledFault&) = default;
};

// In order of `start`. Empty where `faults`, `hosts` or `chaos` is. `random` is only derived from.
std::vector<ScheduledFault> make_schedule(const ScheduleOptions& options,
                                          std::span<const FaultChoice> faults,
                                          const std::vector<std::string>& hosts,
                                          std::chrono::milliseconds chaos, const Random& random);

// For logs and comparison: "12.500s +4.000s partition n1 direction=in".
std::string describe(const ScheduledFault& scheduled);

}  // namespace ordeal
