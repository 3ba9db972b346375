#include "targets/postgres/socket_deadline.h"

#include <sys/socket.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

namespace ordeal::postgres {

using Time = std::chrono::steady_clock::time_point;

class DeadlineThread {
 public:
  static DeadlineThread& instance() {
    static DeadlineThread thread;
    return thread;
  }

  void add(SocketDeadline* deadline) {
    const std::lock_guard lock(mutex_);
    armed_.emplace(deadline->deadline(), deadline);
    // Deadlines mostly come in ascending order, so that waking the thread is rare.
    if (deadline->deadline() < asleep_until_) wake_.notify_one();
  }

  // When it returns the thread no longer touches `deadline`.
  void remove(SocketDeadline* deadline) {
    const std::lock_guard lock(mutex_);
    armed_.erase({deadline->deadline(), deadline});
  }

 private:
  DeadlineThread() : thread_([this](const std::stop_token& stop) { run(stop); }) {}

  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      expire();
      const Time until = armed_.empty() ? std::chrono::steady_clock::now() + std::chrono::hours(1)
                                        : armed_.begin()->first;
      asleep_until_ = until;
      wake_.wait_until(lock, stop, until,
                       [&] { return !armed_.empty() && armed_.begin()->first < until; });
    }
  }

  void expire() {
    const Time now = std::chrono::steady_clock::now();
    while (!armed_.empty() && armed_.begin()->first <= now) {
      armed_.begin()->second->shut(SocketDeadline::Cause::time_out);
      armed_.erase(armed_.begin());
    }
  }

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::set<std::pair<Time, SocketDeadline*>> armed_;
  Time asleep_until_ = Time::max();
  std::jthread thread_;  // last: uses the others
};

SocketDeadline::SocketDeadline(int descriptor, Time deadline, std::stop_token stop)
    : descriptor_(descriptor), deadline_(deadline), on_stop_(std::move(stop), OnStop{this}) {
  DeadlineThread::instance().add(this);
}

SocketDeadline::~SocketDeadline() { DeadlineThread::instance().remove(this); }

void SocketDeadline::shut(Cause cause) {
  Cause none = Cause::none;
  cause_.compare_exchange_strong(none, cause);
  ::shutdown(descriptor_, SHUT_RDWR);
}

}  // namespace ordeal::postgres
