#include "nemesis/proxy/listen.h"

#include <exception>

#include "nemesis/proxy/address.h"

namespace ordeal::proxy {

Result<tcp::endpoint> resolve_listen(std::string_view what, std::string text) try {
  if (text.starts_with(':')) text.insert(0, "0.0.0.0");
  ORDEAL_TRY_ASSIGN(const Address address,
                    parse_address(fmt::format("{}: the address to listen on", what), text));
  ErrorCode error;
  asio::io_context unused;
  const auto found = tcp::resolver(unused).resolve(address.host, std::to_string(address.port),
                                                   tcp::resolver::passive, error);
  if (!error && !found.empty()) return found.begin()->endpoint();
  return bad_input("{}: the address to listen on, {}, is unknown: {}", what, text, error.message());
} catch (const std::exception& error) {  // no descriptors are left
  return surroundings_error("{}: {} can't be looked up: {}", what, text, error.what());
}

std::string text_of(const tcp::endpoint& endpoint) {
  const auto address = endpoint.address();
  return fmt::format(fmt::runtime(address.is_v6() ? "[{}]:{}" : "{}:{}"), address.to_string(),
                     endpoint.port());
}

}  // namespace ordeal::proxy
