#include "nemesis/proxy/connection.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace ordeal::proxy {
namespace {

constexpr auto kDialTimeout = std::chrono::seconds(10);

void prepare(Socket& socket) {
  ErrorCode ignored;
  socket.non_blocking(true, ignored);
  socket.set_option(tcp::no_delay(true), ignored);
}

}  // namespace

void close_socket(Socket& socket, bool reset) {
  ErrorCode ignored;
  if (reset) socket.set_option(asio::socket_base::linger(true, 0), ignored);
  socket.close(ignored);
}

Connection::Connection(std::shared_ptr<LegState> leg, Worker& worker, Socket client,
                       std::uint64_t number)
    : leg_(std::move(leg)),
      worker_(worker),
      client_(std::move(client)),
      server_(worker.loop),
      number_(number),
      up_(*this, Direction::upstream, client_, server_),
      down_(*this, Direction::downstream, server_, client_) {}

void Connection::start() {
  if (!closed_) asio::co_spawn(worker_.loop, dial(shared_from_this()), asio::detached);
}

asio::awaitable<void> Connection::dial(std::shared_ptr<Connection> self) {
  asio::steady_timer deadline(self->worker_.loop, kDialTimeout);
  deadline.async_wait([self](ErrorCode error) {
    if (!error) self->close(true);
  });
  const Address upstream = self->leg_->upstream();
  ErrorCode error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  if (const auto numeric = asio::ip::make_address(upstream.host, error); !error) {
    co_await self->server_.async_connect(tcp::endpoint(numeric, upstream.port), token);
  } else {
    tcp::resolver resolver(self->worker_.loop);
    const auto found =
        co_await resolver.async_resolve(upstream.host, std::to_string(upstream.port), token);
    if (!error && !self->closed_) co_await asio::async_connect(self->server_, found, token);
  }
  if (self->closed_) co_return;
  if (error) {
    self->close(true);
  } else {
    self->carry();
  }
}

void Connection::carry() {
  prepare(client_);
  prepare(server_);
  carrying_ = true;
  reconcile();
}

void Connection::reconcile() {
  if (!carrying_ || closed_) return;
  const ToxicList toxics = leg_->toxics();
  up_.reconcile(*toxics);
  down_.reconcile(*toxics);
  up_.advance();
  down_.advance();
}

void Connection::close(bool reset) {
  if (closed_) return;
  closed_ = true;
  close_socket(client_, reset);
  close_socket(server_, reset);
  up_.cancel();
  down_.cancel();
  leg_->leave(shared_from_this());
}

void Connection::link_finished() {
  if (up_.finished() && down_.finished()) close(false);
}

void Connection::destination_lost(Direction direction) {
  Link& back = opposite(direction);
  if (back.finished()) {
    close(true);
  } else {
    back.source_lost();
  }
}

void Connection::source_gone(Direction direction) {
  Link& back = opposite(direction);
  if (!closed_ && !back.finished()) back.lose_destination();
}

}  // namespace ordeal::proxy
