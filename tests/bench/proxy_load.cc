// A load generator for TCP proxies: pairs of a client, which connects to ADDRESS, and a sink or
// echo behind the proxy, which accepts on UPSTREAM; both in this process. See
// proxy_side_by_side.py.
//
//   proxy_load throughput CONNECT_PORT UPSTREAM_PORT CONNECTIONS SECONDS    prints MB/s, MB in all
//   proxy_load latency    CONNECT_PORT UPSTREAM_PORT ROUNDS                 prints p50 and p99, µs
//   proxy_load idle       CONNECT_PORT UPSTREAM_PORT CONNECTIONS            holds them until EOF on
//   stdin
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using std::chrono::steady_clock;

constexpr std::size_t kBlockBytes = std::size_t{128} * 1024;

int check(int result, const char* what) {
  if (result >= 0) return result;
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int listen_on(int port) {
  const int listener = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
  const int yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  const sockaddr_in address = loopback(port);
  check(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  check(listen(listener, 4096), "listen");
  return listener;
}

void no_delay(int descriptor) {
  const int yes = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

struct Pair {
  int client, server;
};

Pair connect_pair(int listener, int port) {
  const int client = check(socket(AF_INET, SOCK_STREAM, 0), "socket");
  const sockaddr_in address = loopback(port);
  check(connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  const int server = check(accept(listener, nullptr, nullptr), "accept");
  no_delay(client);
  no_delay(server);
  return {client, server};
}

void send_until(const std::atomic<bool>& done, int descriptor) {
  const std::vector<char> block(kBlockBytes, 'x');
  while (!done && send(descriptor, block.data(), block.size(), MSG_NOSIGNAL) > 0) {
  }
}

void count_received(int descriptor, std::atomic<std::uint64_t>& bytes) {
  std::vector<char> block(kBlockBytes);
  for (ssize_t size; (size = recv(descriptor, block.data(), block.size(), 0)) > 0;) {
    bytes += static_cast<std::uint64_t>(size);
  }
}

void throughput(int listener, int port, int connections, int seconds) {
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> bytes = 0;
  std::vector<Pair> pairs;
  std::vector<std::jthread> threads;
  for (int i = 0; i < connections; ++i) pairs.push_back(connect_pair(listener, port));
  for (const Pair& pair : pairs) {
    threads.emplace_back([&, pair] { send_until(done, pair.client); });
    threads.emplace_back([&, pair] { count_received(pair.server, bytes); });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));  // windows have opened
  const auto begin = steady_clock::now();
  const std::uint64_t before = bytes;
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const std::uint64_t moved = bytes - before;
  const std::chrono::duration<double> took = steady_clock::now() - begin;
  std::printf("%.0f ", static_cast<double>(moved) / 1e6 / took.count());
  done = true;
  for (const Pair& pair : pairs) {
    shutdown(pair.client, SHUT_RDWR);
    shutdown(pair.server, SHUT_RDWR);
  }
  threads.clear();
  std::printf("%.0f\n", static_cast<double>(bytes) / 1e6);
}

void echo(int descriptor) {
  char byte = 0;
  while (recv(descriptor, &byte, 1, 0) == 1 && send(descriptor, &byte, 1, MSG_NOSIGNAL) == 1) {
  }
}

void latency(int listener, int port, int rounds) {
  const Pair pair = connect_pair(listener, port);
  const std::jthread server([&] { echo(pair.server); });
  std::vector<double> microseconds;
  char byte = 'x';
  for (int i = -1000; i < rounds; ++i) {
    const auto begin = steady_clock::now();
    check(static_cast<int>(send(pair.client, &byte, 1, MSG_NOSIGNAL)), "send");
    check(static_cast<int>(recv(pair.client, &byte, 1, 0)), "recv");
    const std::chrono::duration<double, std::micro> took = steady_clock::now() - begin;
    if (i >= 0) microseconds.push_back(took.count());
  }
  std::sort(microseconds.begin(), microseconds.end());
  const auto at = [&](double share) {
    return microseconds[static_cast<std::size_t>(static_cast<double>(rounds - 1) * share)];
  };
  std::printf("%.1f %.1f\n", at(0.5), at(0.99));
  shutdown(pair.client, SHUT_RDWR);
}

void idle(int listener, int port, int connections) {
  std::vector<Pair> pairs;
  for (int i = 0; i < connections; ++i) {
    pairs.push_back(connect_pair(listener, port));
    char byte = 'x';  // each has carried something both ways
    check(static_cast<int>(send(pairs.back().client, &byte, 1, 0)), "send");
    check(static_cast<int>(recv(pairs.back().server, &byte, 1, 0)), "recv");
    check(static_cast<int>(send(pairs.back().server, &byte, 1, 0)), "send");
    check(static_cast<int>(recv(pairs.back().client, &byte, 1, 0)), "recv");
  }
  std::puts("ready");
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 254;
  const std::string_view what = argv[1];
  const int port = std::atoi(argv[2]), listener = listen_on(std::atoi(argv[3])),
            count = std::atoi(argv[4]);
  if (what == "throughput" && argc == 6) throughput(listener, port, count, std::atoi(argv[5]));
  if (what == "latency") latency(listener, port, count);
  if (what == "idle") idle(listener, port, count);
}
