// One run of a campaign, from nothing to a complete history on disk:
// lab → preflight → install → start → set-up → chaos → heal → final operations → stop → clean up.
// Judging the history is the caller's: it starts from the file.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/campaign.h"
#include "orchestrator/console.h"
#include "orchestrator/store.h"

namespace ordeal {

struct RunRequest {
  const Campaign& campaign;
  const RunFolder& folder;
  std::uint64_t seed;
  std::string command;  // reproduces the run
  std::string ordeal_version;
  Console& console;
  std::stop_token stop;  // on request: chaos ends, faults are healed, the history is completed
};

// What a run leaves beside its folder. The history file was closed before.
struct RunEnd {
  Status trouble;  // of the surroundings: disk full, a fault that could not be healed, ...
  bool interrupted = false;               // by the user, during chaos or after it
  std::chrono::milliseconds duration{0};  // until the end of chaos
};

// Must be called while the process has a single thread: a namespace lab moves the process into the
// network of its control node. An Error means that chaos did not begin: nothing was judged.
// Whatever happens, faults are healed, servers stopped and the lab is taken down before it returns.
Result<RunEnd> run_campaign(const RunRequest& request);

// A fact in the header of a run's history, by which reports can be made from the folder alone;
// those of orchestrator/vacuity.h are others.
inline constexpr const char* kFactTarget = "target";  // its version

}  // namespace ordeal
