#include "targets/postgres/socket_deadline.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>

namespace ordeal::postgres {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

class SocketPair {
 public:
  SocketPair() { REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_.data()) == 0); }
  ~SocketPair() {
    for (const int descriptor : sockets_) ::close(descriptor);
  }
  // Blocks until there is a byte, or the socket is shut down: 0.
  ssize_t read() {
    char byte = 0;
    return ::recv(sockets_[0], &byte, 1, 0);
  }
  void write() { REQUIRE(::send(sockets_[1], "x", 1, 0) == 1); }
  int reader() const { return sockets_[0]; }

 private:
  std::array<int, 2> sockets_{};
};

TEST_CASE("socket deadline: ends a blocked read when time is up") {
  SocketPair sockets;
  const auto start = steady_clock::now();
  const SocketDeadline deadline(sockets.reader(), start + 100ms, {});
  CHECK(sockets.read() == 0);
  CHECK(steady_clock::now() - start >= 100ms);
  CHECK(steady_clock::now() - start < 2s);
  CHECK(deadline.cause() == SocketDeadline::Cause::time_out);
}

TEST_CASE("socket deadline: ends a blocked read on stop, also one requested before") {
  SocketPair sockets;
  std::stop_source source;
  const SocketDeadline deadline(sockets.reader(), steady_clock::now() + 1h, source.get_token());
  std::jthread stopper([&] {
    std::this_thread::sleep_for(50ms);
    source.request_stop();
  });
  CHECK(sockets.read() == 0);
  CHECK(deadline.cause() == SocketDeadline::Cause::stop);

  SocketPair others;
  const SocketDeadline late(others.reader(), steady_clock::now() + 1h, source.get_token());
  CHECK(others.read() == 0);
}

TEST_CASE("socket deadline: a shorter one overtakes, and a disarmed one does nothing") {
  SocketPair sockets;
  SocketPair others;
  { const SocketDeadline disarmed(sockets.reader(), steady_clock::now() + 20ms, {}); }
  const SocketDeadline far(sockets.reader(), steady_clock::now() + 1h, {});
  const SocketDeadline near(others.reader(), steady_clock::now() + 60ms, {});
  CHECK(others.read() == 0);
  sockets.write();
  CHECK(sockets.read() == 1);
  CHECK(far.cause() == SocketDeadline::Cause::none);
}

}  // namespace
}  // namespace ordeal::postgres
