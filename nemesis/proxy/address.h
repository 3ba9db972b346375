// host:port as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace ordeal::proxy {

struct Address {
  std::string host;  // a name or an address, without brackets
  std::uint16_t port = 0;
};

// "localhost:80", "127.0.0.1:80", "[::1]:80". `what` names the setting in the message.
Result<Address> parse_address(std::string_view what, std::string_view text);

}  // namespace ordeal::proxy
