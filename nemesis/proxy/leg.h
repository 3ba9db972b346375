// A leg: the listener, and what may be done to it and its connections.
//
// Called by one thread at a time, none of them a worker's. For .cc files of this directory only (it
// includes Asio).
#pragma once

#include <boost/asio/awaitable.hpp>
#include <memory>

#include "nemesis/proxy/leg_state.h"
#include "nemesis/proxy/workers.h"

namespace ordeal::proxy {

class Leg {
 public:
  // Checks the addresses; it is open in `spec`'s mode when this returns.
  static Result<std::unique_ptr<Leg>> open(Workers& workers, LegSpec spec, Random random);
  ~Leg();  // closes listener and connections
  Leg(const Leg&) = delete;
  Leg& operator=(const Leg&) = delete;

  Status set_mode(LegMode mode);
  Status change(const LegChange& change);
  LegInfo info() const;

  Result<Toxic> add_toxic(Toxic toxic);
  Result<Toxic> update_toxic(std::string_view name, const Attributes& attributes,
                             std::optional<double> toxicity);
  Status remove_toxic(std::string_view name);
  void remove_all_toxics();

 private:
  using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

  Leg(Workers& workers, LegSpec spec, Random random);
  static asio::awaitable<void> accept_all(std::shared_ptr<Acceptor> acceptor, Workers& workers,
                                          std::shared_ptr<LegState> state);
  Status set_addresses(const std::string& listen, const std::string& upstream);
  Status listen();
  void stop_listening();
  void close_connections(bool reset);
  void publish(std::vector<LiveToxic> toxics);
  Result<std::vector<LiveToxic>::const_iterator> find_toxic(const std::vector<LiveToxic>& toxics,
                                                            std::string_view name) const;

  Workers& workers_;
  LegSpec spec_;
  tcp::endpoint endpoint_;
  std::shared_ptr<LegState> state_;
  std::shared_ptr<Acceptor> acceptor_;  // its socket is used on the first worker only
  std::uint64_t next_id_ = 1;           // of toxics, and of their versions
};

}  // namespace ordeal::proxy
