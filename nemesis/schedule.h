// When faults happen: a pure function of the settings, the seed and the length of chaos, so that
// the same seed plays the same faults however fast the hosts are.
//
// The first sweep touches every fault and every leg once, in a drawn order, for a short time. Where
// faults may overlap, one that strikes other hosts and legs is swept while another is held. After
// the sweep come episodes: a fault, or a few that overlap, preferably a fault of the servers with
// one of the legs; some episodes end with an immediate kill of what was just healed. Between
// episodes, and at the start and the end, nothing is broken, so that the system can recover and
// make progress. Where chaos is too short for the sweep, the times for which its faults are held,
// and those between them, shrink in proportion, so that each fault still happens.
//
// A fault is held for its duration from the moment its effect was seen. How long faults take to be
// seen, and to be healed, is planned for by FaultEntry::typical.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "base/result.h"
#include "nemesis/nemesis.h"

namespace ordeal {

// What --complexity means to faults.
struct Intensity {
  double interval_factor = 1;
  double overlap = 0.3;          // chance that one more fault joins an episode
  std::size_t at_once_max = 2;   // faults of an episode
  double kill_after_heal = 0.2;  // chance that an episode ends with a kill
};
Intensity intensity(std::string_view complexity);  // "low", "medium" or "high"

// Longest outage by name of a fault or leg. The outage of a leg lasts from the beginning of the
// first injection until the last of the faults that overlap on it is healed.
using OutageCaps = std::map<std::string, std::chrono::milliseconds>;

struct ScheduleOptions {
  std::chrono::milliseconds interval{5'000};  // mean quiet time between episodes
  std::chrono::milliseconds duration_min{3'000};
  std::chrono::milliseconds duration_max{10'000};
  std::chrono::milliseconds quiet_start{3'000};  // at most a fifth of chaos; the same for quiet_end
  std::chrono::milliseconds quiet_end{3'000};
  std::chrono::milliseconds recovery{2'000};  // least quiet time between episodes
  OutageCaps outage_max{};
  Intensity intensity{};
};

// Settings of a campaign's `schedule:` section, and their reading.
std::span<const OptionSpec> schedule_option_specs();
Result<ScheduleOptions> schedule_options(const Options& options);

// A fault that the campaign lists, with its settings. `entry` is one of fault_catalog().
struct FaultChoice {
  const FaultEntry* entry = nullptr;
  Options options;
  std::string where{};  // it is listed, for messages
};

struct ScheduledFault {
  std::chrono::milliseconds start{0};     // of the injection, since chaos began
  std::chrono::milliseconds duration{0};  // from the moment its effect was seen
  Fault fault;
  friend bool operator==(const ScheduledFault&, const ScheduledFault&) = default;
};

// When, since chaos began, an idle machine sees the effect, begins to heal, and sees that it is
// gone.
struct PlannedTimes {
  std::chrono::milliseconds seen;
  std::chrono::milliseconds end;
  std::chrono::milliseconds healed;
};
PlannedTimes planned_times(const ScheduledFault& scheduled);

// What a cap allows an outage that a fault is part of: healed by `begin + cap`.
struct CappedOutage {
  std::string name;  // of the fault or leg
  std::chrono::milliseconds cap;
  std::chrono::milliseconds begin;  // since chaos began
};
// The one that must end first, as planned; `before` are faults that begin no later, in order of
// start. nullopt where there is no cap.
std::optional<CappedOutage> capped_outage(const OutageCaps& caps,
                                          std::span<const ScheduledFault> before,
                                          const ScheduledFault& scheduled);

// In order of `start`. Empty where `faults` or `chaos` is. `random` is only derived from. Each of
// `faults` finds something to strike on the terrain.
std::vector<ScheduledFault> make_schedule(const ScheduleOptions& options,
                                          std::span<const FaultChoice> faults,
                                          const Terrain& terrain, std::chrono::milliseconds chaos,
                                          const Random& random);

// Legs of the terrain that one of the faults can strike.
std::vector<std::string> legs_in_reach(std::span<const FaultChoice> faults, const Terrain& terrain);

// A step of a written schedule: "at 12.500s for 4s" and "partition legs=client-db
// direction=upstream", or "kill n1,n2".
struct StepText {
  std::string when;
  std::string what;
};
StepText describe(const ScheduledFault& scheduled);
// The reverse. What the text leaves open is drawn by the fault's settings: those of `faults`, or
// its defaults. The error says what was expected.
Result<ScheduledFault> parse_step(const StepText& step, std::span<const FaultChoice> faults,
                                  const Terrain& terrain, Random random);

}  // namespace ordeal
