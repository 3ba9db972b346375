// Opening listening sockets. For .cc files of this directory only (it includes Asio).
#pragma once

#include <string>
#include <string_view>

#include "nemesis/proxy/workers.h"

namespace ordeal::proxy {

// From "address:port" or ":port" (all addresses of this machine). `what` names the listener.
Result<tcp::endpoint> resolve_listen(std::string_view what, std::string text);

// "address:port", "[v6 address]:port".
std::string text_of(const tcp::endpoint& endpoint);

// Opens, binds and listens. The error says that `what` can't listen there, and why.
template <class Acceptor>
Status listen_on(Acceptor& acceptor, const tcp::endpoint& endpoint, std::string_view what) {
  ErrorCode error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (!error) return {};
  return surroundings_error("{}: can't listen on {}: {}", what, text_of(endpoint), error.message());
}

}  // namespace ordeal::proxy
