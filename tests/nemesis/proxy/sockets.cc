#include "tests/nemesis/proxy/sockets.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "base/random.h"

namespace ordeal::proxy {
namespace {

using std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int check(int result, const char* what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

int new_socket() { return check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"); }

bool wait_for(int descriptor, short events, steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<Milliseconds>(deadline - steady_clock::now());
  pollfd poll_for{descriptor, events, 0};
  return left.count() > 0 && poll(&poll_for, 1, static_cast<int>(left.count())) > 0;
}

Milliseconds since(steady_clock::time_point begin) {
  return std::chrono::duration_cast<Milliseconds>(steady_clock::now() - begin);
}

}  // namespace

TcpSocket TcpSocket::connect(std::uint16_t port) {
  TcpSocket result(new_socket());
  const sockaddr_in address = loopback(port);
  check(::connect(result.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address),
        "connect");
  const int yes = 1;
  setsockopt(result.descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  return result;
}

void TcpSocket::send(std::string_view bytes, Milliseconds timeout) {
  const auto deadline = steady_clock::now() + timeout;
  while (!bytes.empty()) {
    if (!wait_for(descriptor_, POLLOUT, deadline)) throw std::runtime_error("send: timeout");
    const ssize_t sent =
        ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EAGAIN) continue;
    check(static_cast<int>(sent > 0 ? 0 : -1), "send");
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

Received TcpSocket::receive(std::size_t count, Milliseconds timeout) {
  const auto begin = steady_clock::now();
  Received got{"", Ending::enough, {}};
  std::array<char, 65536> buffer;
  while (got.bytes.size() < count && got.ending == Ending::enough) {
    if (!wait_for(descriptor_, POLLIN, begin + timeout)) {
      got.ending = Ending::timeout;
      break;
    }
    const ssize_t size =
        recv(descriptor_, buffer.data(), std::min(buffer.size(), count - got.bytes.size()), 0);
    if (size == 0) got.ending = Ending::finish;
    if (size < 0) got.ending = Ending::reset;
    if (size > 0) got.bytes.append(buffer.data(), static_cast<std::size_t>(size));
  }
  got.after = since(begin);
  return got;
}

Received TcpSocket::receive_all(Milliseconds timeout) {
  return receive(std::string().max_size(), timeout);
}

void TcpSocket::finish() { shutdown(descriptor_, SHUT_WR); }

void TcpSocket::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

void TcpSocket::reset() {
  const linger now{1, 0};
  setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close();
}

TcpListener::TcpListener() : descriptor_(new_socket()) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  check(bind(descriptor_, any, size), "bind");
  check(listen(descriptor_, 4096), "listen");
  check(getsockname(descriptor_, any, &size), "getsockname");
  port_ = ntohs(address.sin_port);
}

TcpListener::~TcpListener() { ::close(descriptor_); }

TcpSocket TcpListener::accept() {
  if (!wait_for(descriptor_, POLLIN, steady_clock::now() + std::chrono::seconds(10))) {
    throw std::runtime_error("accept: timeout");
  }
  return TcpSocket(check(accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC), "accept"));
}

std::uint16_t port_of(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
}

bool connection_refused(std::uint16_t port) {
  try {
    TcpSocket::connect(port);
    return false;
  } catch (const std::system_error& error) {
    return error.code() == std::errc::connection_refused;
  }
}

World::World(ProxyOptions options) : proxy(std::move(Proxy::start(options).value())) {
  const LegSpec spec{"leg", "127.0.0.1:0", fmt::format("127.0.0.1:{}", upstream.port())};
  port = port_of(proxy->add_leg(spec).value().spec.listen);
}

World::Pair World::connect() {
  TcpSocket client = TcpSocket::connect(port);
  return {std::move(client), upstream.accept()};
}

Toxic World::add(std::string type, Direction direction, Attributes attributes, double toxicity) {
  auto toxic =
      proxy->add_toxic("leg", {"", std::move(type), direction, toxicity, std::move(attributes)});
  if (!toxic) throw std::runtime_error(toxic.error().message);
  return *toxic;
}

std::string pattern(std::size_t size) {
  Random random(7);
  std::string bytes;
  while (bytes.size() < size) {
    const std::uint64_t word = random.next();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace ordeal::proxy
