// Keeps workers near one another. Generators don't look at the clock or at other workers, so that a
// seed replays them; but a worker that ran far ahead would move on to keys that nobody else touches
// yet, and nothing would contend. So no worker may be more than `lead` operations ahead of the
// slowest. Optionally holds all of them to a common rate.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace ordeal {

class Pacer {
 public:
  using Clock = std::chrono::steady_clock;

  // `rate`: operations per second of all workers together; 0 is full speed.
  Pacer(std::size_t workers, std::uint64_t lead, double rate);

  // Called by worker `worker` before each operation; returns when it may go on. One that is blocked
  // by the database holds up the others only in part: each of them waits at most kPatience.
  void wait(std::size_t worker, const std::stop_token& stop);
  // The worker does no more: the others need not wait for it.
  void leave(std::size_t worker);

  static constexpr std::chrono::milliseconds kPatience{100};

 private:
  struct alignas(64) Progress {
    std::atomic<std::uint64_t> operations{0};
  };

  std::uint64_t slowest() const;
  void wait_for_slot(std::size_t worker, std::uint64_t operation,
                     const std::stop_token& stop) const;

  std::vector<Progress> progress_;
  std::uint64_t lead_;
  std::chrono::nanoseconds interval_;  // between two operations of one worker; 0: none
  Clock::time_point start_;
};

}  // namespace ordeal
