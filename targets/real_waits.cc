// A library of its own, preloaded into the server ahead of libfaketime: gives epoll_wait and select
// back to the kernel.
//
// libfaketime 0.9.10 wraps them, and while one of its wrappers waits, it doesn't fake the clock for
// that thread. A signal handler that interrupts the wait sees the true time: PostgreSQL's handler
// of SIGALRM, under a clock that is ahead, then finds that no time-out is due yet, and rings again
// when the true time has caught up. So neither deadlock_timeout nor statement_timeout would work,
// and deadlocks would last for as long as the clock is ahead. The waits need no faking, since the
// speed of the clock is not changed.
//
// Needs nothing but libc. Thread-safe.
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {

int epoll_wait(int epoll, epoll_event* events, int events_max, int timeout_ms) {
  return static_cast<int>(
      syscall(SYS_epoll_pwait, epoll, events, events_max, timeout_ms, nullptr, 0));
}

// Like Linux's select, and unlike pselect6 alone, leaves the time that remains in `timeout`.
int select(int count, fd_set* reads, fd_set* writes, fd_set* exceptions, timeval* timeout) {
  timespec remaining{};
  if (timeout != nullptr) remaining = {timeout->tv_sec, timeout->tv_usec * 1000};
  const auto result = syscall(SYS_pselect6, count, reads, writes, exceptions,
                              timeout == nullptr ? nullptr : &remaining, nullptr);
  if (timeout != nullptr) *timeout = {remaining.tv_sec, remaining.tv_nsec / 1000};
  return static_cast<int>(result);
}

}  // extern "C"
