#include "nemesis/wait.h"

#include <condition_variable>
#include <mutex>

namespace ordeal {

bool sleep_until(std::chrono::steady_clock::time_point moment, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  wake.wait_until(lock, stop, moment, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace ordeal
