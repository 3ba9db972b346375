#include "nemesis/proxy/address.h"

#include <charconv>

namespace ordeal::proxy {

Result<Address> parse_address(std::string_view what, std::string_view text) {
  const auto wrong = [&] {
    return bad_input("{} is \"{}\"; expected host:port, e.g. 127.0.0.1:5432", what, text);
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return wrong();
  std::string_view host = text.substr(0, colon);
  if (host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return wrong();
  }
  const std::string_view digits = text.substr(colon + 1);
  Address address{std::string(host), 0};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
  if (host.empty() || digits.empty() || error != std::errc() ||
      end != digits.data() + digits.size()) {
    return wrong();
  }
  return address;
}

}  // namespace ordeal::proxy
