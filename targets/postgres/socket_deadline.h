// Bounds a blocking call on a socket: shuts the socket down when time is up or a stop was
// requested, which makes the call return at once, also while the peer is frozen or its packets are
// dropped.
//
// Use a duplicate of the descriptor (dup(2)): the library may close its own at any moment, and the
// number could by then be another thread's socket. One watching thread serves the whole process.
#pragma once

#include <atomic>
#include <chrono>
#include <stop_token>

namespace ordeal::postgres {

class SocketDeadline {
 public:
  enum class Cause { none, time_out, stop };

  // Armed from construction to destruction. `descriptor` must stay open for that long.
  SocketDeadline(int descriptor, std::chrono::steady_clock::time_point deadline,
                 std::stop_token stop);
  ~SocketDeadline();
  SocketDeadline(const SocketDeadline&) = delete;
  SocketDeadline& operator=(const SocketDeadline&) = delete;

  // Why the socket was shut down, if it was.
  Cause cause() const { return cause_.load(); }
  std::chrono::steady_clock::time_point deadline() const { return deadline_; }

 private:
  friend class DeadlineThread;
  void shut(Cause cause);

  struct OnStop {
    SocketDeadline* owner;
    void operator()() const { owner->shut(Cause::stop); }
  };

  int descriptor_;
  std::chrono::steady_clock::time_point deadline_;
  std::atomic<Cause> cause_ = Cause::none;
  std::stop_callback<OnStop> on_stop_;  // last: may run while being constructed
};

}  // namespace ordeal::postgres
