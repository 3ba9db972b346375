#include "remote/tcp.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace ordeal {
namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

constexpr int kPollSlice_ms = 20;  // how soon a stop request is noticed

Result<Addresses> resolve(const HostSpec& spec) {
  const std::string& where = spec.address.empty() ? spec.name : spec.address;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(where.c_str(), std::to_string(spec.ssh_port).c_str(), &hints, &found);
  if (error != 0) {
    return surroundings_error("{}: resolving `{}` failed: {}; check the host's address",
                              describe(spec), where, gai_strerror(error));
  }
  return Addresses(found, &freeaddrinfo);
}

void keep_alive(int fd) {
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof value);
  };
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 5);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 2);
  set(IPPROTO_TCP, TCP_KEEPCNT, 5);
  set(IPPROTO_TCP, TCP_USER_TIMEOUT, 15'000);
  set(IPPROTO_TCP, TCP_NODELAY, 1);
}

// 0 once connected, otherwise an errno; ETIMEDOUT and ECANCELED where patience ended.
int finish_connecting(int fd, const Patience& patience) {
  while (true) {
    if (patience.stop.stop_requested()) return ECANCELED;
    if (Clock::now() >= patience.deadline) return ETIMEDOUT;
    pollfd waiting{fd, POLLOUT, 0};
    if (poll(&waiting, 1, kPollSlice_ms) <= 0) continue;
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
  }
}

int connect_to(int fd, const addrinfo& address, const Patience& patience) {
  if (connect(fd, address.ai_addr, address.ai_addrlen) == 0) return 0;
  return errno == EINPROGRESS ? finish_connecting(fd, patience) : errno;
}

}  // namespace

Result<UniqueFd> connect_tcp(const HostSpec& spec, const Patience& patience) {
  ORDEAL_TRY_ASSIGN(const Addresses addresses, resolve(spec));
  int error = 0;
  for (const addrinfo* address = addresses.get(); address != nullptr; address = address->ai_next) {
    UniqueFd fd(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd) return surroundings_error("cannot make a socket: {}", strerror(errno));
    error = connect_to(fd.get(), *address, patience);
    if (error == 0) {
      keep_alive(fd.get());
      return fd;
    }
    if (error == ECANCELED) return stopped();
  }
  return surroundings_error(
      "{}: connecting failed: {}; check that the host is up and that sshd "
      "listens there",
      describe(spec), strerror(error));
}

}  // namespace ordeal
