// Looking at what a fault does within the run's own process.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "nemesis/nemesis.h"

namespace ordeal {

struct Seen {
  std::string text;         // what was seen, and where nothing was
  std::string direction{};  // in which something was seen; "" where steps have none
};

// One of the steps is enough, as data of one direction may end before it meets what is in the
// other. An error where none has seen anything; nothing is seen of no steps.
Result<Seen> look(const std::vector<InProcess>& steps,
                  std::chrono::steady_clock::time_point deadline);
// Again and again, until something is seen or the deadline is over. `stopped` where it was stopped.
Result<Seen> await_effect(const std::vector<InProcess>& steps,
                          std::chrono::steady_clock::time_point deadline, std::stop_token stop);

}  // namespace ordeal
