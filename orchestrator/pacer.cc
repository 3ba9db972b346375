#include "orchestrator/pacer.h"

#include <algorithm>
#include <limits>
#include <thread>

namespace ordeal {
namespace {

constexpr std::chrono::microseconds kPoll{200};
constexpr std::chrono::milliseconds kLongestSleep{50};

std::chrono::nanoseconds interval_of(std::size_t workers, double rate) {
  if (rate <= 0) return std::chrono::nanoseconds(0);
  return std::chrono::nanoseconds(
      static_cast<std::int64_t>(1e9 * static_cast<double>(workers) / rate));
}

}  // namespace

Pacer::Pacer(std::size_t workers, std::uint64_t lead, double rate)
    : progress_(workers),
      lead_(lead),
      interval_(interval_of(workers, rate)),
      start_(Clock::now()) {}

void Pacer::wait(std::size_t worker, const std::stop_token& stop) {
  auto& mine = progress_[worker].operations;
  const std::uint64_t operation = mine.load(std::memory_order_relaxed);
  const auto patience_ends = Clock::now() + kPatience;
  while (operation > slowest() + lead_ && Clock::now() < patience_ends && !stop.stop_requested()) {
    std::this_thread::sleep_for(kPoll);
  }
  if (interval_.count() > 0) wait_for_slot(worker, operation, stop);
  mine.store(operation + 1, std::memory_order_relaxed);
}

void Pacer::leave(std::size_t worker) {
  progress_[worker].operations.store(std::numeric_limits<std::uint64_t>::max() / 2);
}

std::uint64_t Pacer::slowest() const {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max() / 2;
  for (const auto& each : progress_) {
    least = std::min(least, each.operations.load(std::memory_order_relaxed));
  }
  return least;
}

void Pacer::wait_for_slot(std::size_t worker, std::uint64_t operation,
                          const std::stop_token& stop) const {
  // Workers are spread evenly over the interval.
  const auto offset =
      interval_ * static_cast<std::int64_t>(worker) / static_cast<std::int64_t>(progress_.size());
  const auto slot = start_ + offset + interval_ * static_cast<std::int64_t>(operation);
  for (auto now = Clock::now(); now < slot && !stop.stop_requested(); now = Clock::now()) {
    std::this_thread::sleep_for(std::min<Clock::duration>(slot - now, kLongestSleep));
  }
}

}  // namespace ordeal
