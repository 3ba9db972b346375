// Watches chaos: the status line, the end of the time, stalls, and whether the history still gets
// to disk.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "base/result.h"
#include "history/recorder.h"
#include "nemesis/engine.h"
#include "orchestrator/console.h"
#include "orchestrator/workers.h"

namespace ordeal {

class Monitor {
 public:
  using Clock = std::chrono::steady_clock;

  Monitor(Console& console, const Recorder& recorder, const FaultEngine& engine,
          const Workers& workers, std::chrono::milliseconds duration,
          std::chrono::milliseconds stall);
  ~Monitor();  // removes the status line

  // Returns when the time is over or a stop was requested; fails as soon as the history can't be
  // written.
  Status watch(Clock::time_point start, std::stop_token stop);
  // Returns when the workers have finished the operations that are under way.
  void await_workers();

  // "chaos 12/60 s  ok 812/s  fail 3/s  info 0/s  active: partition on n1".
  static std::string line(std::chrono::milliseconds elapsed, std::chrono::milliseconds duration,
                          const RecorderCounts& before, const RecorderCounts& now,
                          std::chrono::milliseconds between,
                          const std::vector<ActiveFault>& active);

 private:
  void dump_stall();

  Console& console_;
  const Recorder& recorder_;
  const FaultEngine& engine_;
  const Workers& workers_;
  std::chrono::milliseconds duration_;
  std::chrono::milliseconds stall_;  // whoever waits for longer is named, as often
  Clock::time_point last_dump_{};
};

}  // namespace ordeal
