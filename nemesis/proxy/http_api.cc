#include "nemesis/proxy/http_api.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <exception>
#include <thread>

#include "nemesis/proxy/address.h"
#include "nemesis/proxy/http_routes.h"
#include "nemesis/proxy/listen.h"

namespace ordeal::proxy {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t kBodyMaxBytes = std::size_t{1} << 20U;
constexpr auto kIdleTimeout = std::chrono::seconds(60);
constexpr auto kAcceptPause = std::chrono::milliseconds(50);

using HttpRequest = http::request<http::string_body>;
using HttpResponse = http::response<http::string_body>;

HttpResponse response_of(const ApiReply& reply, unsigned version, bool keep_alive) {
  HttpResponse response(http::status(reply.status), version);
  if (!reply.body.empty()) response.set(http::field::content_type, "application/json");
  response.keep_alive(keep_alive);
  response.body() = reply.body;
  response.prepare_payload();
  return response;
}

ApiReply reply_to(Proxy& proxy, const HttpRequest& request) {
  // Keeps web pages from driving the proxy, as toxiproxy does.
  if (request[http::field::user_agent].starts_with("Mozilla/")) {
    return error_reply(403, "User agent not allowed");
  }
  const auto view = [](auto text) { return std::string_view(text.data(), text.size()); };
  return answer(proxy, view(request.method_string()), view(request.target()), request.body());
}

ApiReply reply_to_malformed(ErrorCode error) {
  return error_reply(error == http::error::body_limit ? 413 : 400,
                     "malformed HTTP request: " + error.message());
}

bool is_malformed(ErrorCode error) {
  return error.category() == make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

asio::awaitable<void> serve_one(tcp::socket socket, Proxy& proxy) {
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  for (bool keep_alive = true; keep_alive;) {
    stream.expires_after(kIdleTimeout);
    http::request_parser<http::string_body> parser;
    parser.body_limit(kBodyMaxBytes);
    ErrorCode error;
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await http::async_read(stream, buffer, parser, token);
    if (error && !is_malformed(error)) break;
    keep_alive = !error && parser.get().keep_alive();
    const ApiReply reply = error ? reply_to_malformed(error) : reply_to(proxy, parser.get());
    const HttpResponse response =
        response_of(reply, error ? 11 : parser.get().version(), keep_alive);
    co_await http::async_write(stream, response, token);
    if (error) break;
  }
  ErrorCode ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

asio::awaitable<void> serve_all(std::shared_ptr<tcp::acceptor> acceptor, Proxy& proxy) {
  for (;;) {
    ErrorCode error;
    auto socket = co_await acceptor->async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!error) {
      asio::co_spawn(acceptor->get_executor(), serve_one(std::move(socket), proxy), asio::detached);
      continue;
    }
    asio::steady_timer pause(acceptor->get_executor(), kAcceptPause);
    co_await pause.async_wait(asio::use_awaitable);
  }
}

}  // namespace

class HttpApi::Impl {
 public:
  Status listen(Proxy& proxy, const std::string& text) {
    ORDEAL_TRY_ASSIGN(const tcp::endpoint endpoint, resolve_listen("HTTP API", text));
    auto acceptor = std::make_shared<tcp::acceptor>(loop_);
    ORDEAL_TRY(listen_on(*acceptor, endpoint, "HTTP API"));
    address_ = text_of(acceptor->local_endpoint());
    asio::co_spawn(loop_, serve_all(std::move(acceptor), proxy), asio::detached);
    thread_ = std::jthread([this] { loop_.run(); });
    return {};
  }
  ~Impl() { loop_.stop(); }

  const std::string& address() const { return address_; }

 private:
  asio::io_context loop_{1};
  std::string address_;
  std::jthread thread_;
};

HttpApi::HttpApi(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpApi::~HttpApi() = default;

Result<std::unique_ptr<HttpApi>> HttpApi::start(Proxy& proxy, const std::string& listen) try {
  auto impl = std::make_unique<Impl>();
  ORDEAL_TRY(impl->listen(proxy, listen));
  return std::unique_ptr<HttpApi>(new HttpApi(std::move(impl)));
} catch (const std::exception& error) {
  return surroundings_error("HTTP API: its event loop can't be started: {}", error.what());
}

std::string HttpApi::address() const { return impl_->address(); }

}  // namespace ordeal::proxy
