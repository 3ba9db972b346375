// The threads that act as clients: each draws operations from its generator, records them, and
// sends them to the database over a connection of its own.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "history/recorder.h"
#include "orchestrator/pacer.h"
#include "targets/target.h"
#include "workloads/workload.h"

namespace ordeal {

struct WorkerPlan {
  const Workload& workload;
  std::string workload_name;
  Target& target;
  Recorder& recorder;
  std::size_t workers;
  std::uint64_t lead;
  double rate;
  Random random;  // of the run; each worker's own is derived from it
};

class Workers {
 public:
  explicit Workers(WorkerPlan plan);
  ~Workers();

  // `over` ends the drawing of operations, `abort` also those that are under way.
  void start(std::stop_token over, std::stop_token abort);
  void join();
  // Whether every worker that was started has left its loop: join() would not wait. Thread-safe.
  bool finished() const { return running_ == 0; }
  // After join(): the operations of the workload's final phase, one worker after the other.
  void run_final(std::stop_token stop);

  // Who waits for what, for longer than `longest`: a line per worker. Thread-safe.
  std::vector<std::string> stalled(std::chrono::milliseconds longest) const;

 private:
  struct Worker;

  void loop(Worker& worker, const std::stop_token& over, const std::stop_token& abort);
  void perform(Worker& worker, Invocation invocation, const std::stop_token& stop);
  Outcome attempt(Worker& worker, const Payload& payload, const std::stop_token& stop);
  void complete(Worker& worker, const Payload& invoked, const std::string& function,
                Outcome outcome);

  WorkerPlan plan_;
  Pacer pacer_;
  std::atomic<std::size_t> running_{0};
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace ordeal
