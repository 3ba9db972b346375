// The HTTP connection against a server that answers as the test says.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <thread>

#include "targets/etcd/http.h"
#include "tests/targets/server_fixture.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;
using etcd::HttpAnswer;
using etcd::HttpConnection;
using etcd::HttpFailure;
using Cause = HttpFailure::Cause;

enum class Reply { answer, close, silence };

// Serves one connection after another; what it does with a request depends on its number.
class Server {
 public:
  explicit Server(std::function<Reply(int number)> reply)
      : reply_(std::move(reply)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port_));
    const int yes = 1;
    ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0);
    REQUIRE(::listen(listener_, 8) == 0);
    thread_ = std::jthread([this] { serve(); });
  }
  ~Server() {
    ::shutdown(listener_, SHUT_RDWR);
    if (const int open = connection_; open >= 0) ::shutdown(open, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  int requests() const { return requests_; }
  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

 private:
  void serve() {
    for (int socket = ::accept(listener_, nullptr, nullptr); socket >= 0;
         socket = ::accept(listener_, nullptr, nullptr)) {
      connection_ = socket;
      char bytes[4096];
      while (::recv(socket, bytes, sizeof(bytes), 0) > 0) {
        const Reply reply = reply_(++requests_);
        if (reply == Reply::close) break;
        constexpr std::string_view kText = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        if (reply == Reply::answer) ::send(socket, kText.data(), kText.size(), MSG_NOSIGNAL);
      }
      connection_ = -1;
      ::close(socket);
    }
  }

  std::function<Reply(int)> reply_;
  int port_ = free_port();
  int listener_;
  std::atomic<int> connection_ = -1;
  std::atomic<int> requests_ = 0;
  std::jthread thread_;
};

auto post(HttpConnection& connection, std::chrono::milliseconds timeout = 10s,
          std::stop_token stop = {}) {
  return connection.post("/v3", "{}", std::chrono::steady_clock::now() + timeout, std::move(stop));
}

HttpFailure failure_of(const std::variant<HttpAnswer, HttpFailure>& reply) {
  if (const auto* failure = std::get_if<HttpFailure>(&reply)) return *failure;
  FAIL("it was answered: " << std::get<HttpAnswer>(reply).body);
  return {};
}

TEST_CASE("etcd http: a request that was lost on a connection in use is not sent again") {
  Server server([](int number) { return number == 2 ? Reply::close : Reply::answer; });
  HttpConnection connection(server.url());
  REQUIRE(std::holds_alternative<HttpAnswer>(post(connection)));
  const HttpFailure lost = failure_of(post(connection));
  CHECK(lost.cause == Cause::lost);
  CHECK(lost.sent);
  CHECK(server.requests() == 2);
  const auto next = post(connection);  // by a connection of its own
  REQUIRE(std::holds_alternative<HttpAnswer>(next));
  CHECK(std::get<HttpAnswer>(next).body == "{}");
  CHECK(server.requests() == 3);
}

TEST_CASE("etcd http: refused, too late and stopped are told apart, and whether it was sent") {
  HttpConnection nobody(fmt::format("http://127.0.0.1:{}", free_port()));
  const HttpFailure refused = failure_of(post(nobody));
  CHECK(refused.cause == Cause::refused);
  CHECK_FALSE(refused.sent);

  Server server([](int) { return Reply::silence; });
  HttpConnection connection(server.url());
  const HttpFailure late = failure_of(post(connection, 200ms));
  CHECK(late.cause == Cause::time_out);
  CHECK(late.sent);
  CHECK_FALSE(failure_of(post(connection, -1ms)).sent);

  std::stop_source source;
  std::jthread stopper([&] {
    while (server.requests() < 2) std::this_thread::sleep_for(5ms);
    source.request_stop();
  });
  const auto start = std::chrono::steady_clock::now();
  const HttpFailure stopped = failure_of(post(connection, 60s, source.get_token()));
  CHECK(stopped.cause == Cause::stop);
  CHECK(stopped.sent);
  CHECK(std::chrono::steady_clock::now() - start < 30s);
  CHECK_FALSE(failure_of(post(connection, 60s, source.get_token())).sent);
}

}  // namespace
}  // namespace ordeal
