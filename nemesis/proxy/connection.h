// A client's connection and the one to the upstream that belongs to it.
//
// On its worker only, except that its shared pointer may be held anywhere. Lives until its last
// event is over; close() ends it. For .cc files of this directory only (it includes Asio).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "nemesis/proxy/address.h"
#include "nemesis/proxy/leg_state.h"
#include "nemesis/proxy/link.h"
#include "nemesis/proxy/workers.h"

namespace ordeal::proxy {

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `number` counts the leg's connections.
  Connection(std::shared_ptr<LegState> leg, Worker& worker, Socket client, std::uint64_t number);

  // Connects to the leg's upstream and begins to carry data. A failure resets the client.
  void start();
  // Takes over the leg's toxics as they are now.
  void reconcile();
  // Both sockets; with `reset`, by RST. Idempotent.
  void close(bool reset);

  Worker& worker() { return worker_; }
  LegState& leg() { return *leg_; }
  bool closed() const { return closed_; }
  // Of this connection alone. Made when asked for, since it is large.
  Random random() const { return leg_->random.derive("connection " + std::to_string(number_)); }

  // From the links: one has delivered its end.
  void link_finished();
  // From the link of `direction`: its destination takes no data any more.
  void destination_lost(Direction direction);
  // From the link of `direction`: its source, which had sent its end, takes no data any more
  // either.
  void source_gone(Direction direction);

 private:
  static asio::awaitable<void> dial(std::shared_ptr<Connection> self);
  void carry();
  Link& opposite(Direction direction) { return direction == Direction::upstream ? down_ : up_; }

  std::shared_ptr<LegState> leg_;
  Worker& worker_;
  Socket client_, server_;
  const std::uint64_t number_;
  bool carrying_ = false, closed_ = false;
  Link up_, down_;
};

// Closes the socket at once, with RST rather than FIN where `reset`.
void close_socket(Socket& socket, bool reset);

}  // namespace ordeal::proxy
