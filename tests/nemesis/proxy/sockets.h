// Blocking loopback sockets for the proxy's tests, every wait bounded; and a leg with an upstream
// that the test plays.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "nemesis/proxy/proxy.h"

namespace ordeal::proxy {

using Milliseconds = std::chrono::milliseconds;

// How a wait for bytes ended.
enum class Ending { enough, finish, reset, timeout };

struct Received {
  std::string bytes;
  Ending ending;
  Milliseconds after;  // since the wait began
};

class TcpSocket {
 public:
  explicit TcpSocket(int descriptor) : descriptor_(descriptor) {}
  ~TcpSocket() { close(); }
  TcpSocket(TcpSocket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  TcpSocket& operator=(TcpSocket&&) = delete;

  // Throws when the connection is refused.
  static TcpSocket connect(std::uint16_t port);

  // Throws when not all could be sent in time.
  void send(std::string_view bytes, Milliseconds timeout = Milliseconds(10'000));
  // Until `count` bytes are there, the stream ends, or time is up.
  Received receive(std::size_t count, Milliseconds timeout = Milliseconds(10'000));
  // Until the stream ends.
  Received receive_all(Milliseconds timeout = Milliseconds(10'000));
  void finish();  // FIN
  void close();
  void reset();  // RST

 private:
  int descriptor_;
};

class TcpListener {
 public:
  TcpListener();  // on any free port of loopback
  ~TcpListener();
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;

  std::uint16_t port() const { return port_; }
  TcpSocket accept();

 private:
  int descriptor_;
  std::uint16_t port_;
};

std::uint16_t port_of(const std::string& address);
bool connection_refused(std::uint16_t port);

// A proxy with one leg, "leg", in front of `upstream`.
struct World {
  struct Pair {
    TcpSocket client, server;
  };

  explicit World(ProxyOptions options = {});

  // A connection through the leg, both ends.
  Pair connect();
  // A toxic of the leg. Throws what is wrong.
  Toxic add(std::string type, Direction direction, Attributes attributes = {}, double toxicity = 1);
  LegCounters counters() const { return proxy->leg("leg")->counters; }

  TcpListener upstream;
  std::unique_ptr<Proxy> proxy;
  std::uint16_t port;  // of the leg
};

// Bytes that differ from place to place, so that a loss or a swap shows.
std::string pattern(std::size_t size);

}  // namespace ordeal::proxy
