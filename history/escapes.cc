#include "history/escapes.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace ordeal {
namespace {

// The number of the four hexadecimal digits at `at`, -1 where there are none.
int hex4(std::string_view text, std::size_t at) {
  int code = 0;
  const std::string_view hex = text.substr(std::min(at, text.size()), 4);
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
  return error == std::errc() && hex.size() == 4 && hex[0] != '-' && end == hex.data() + 4 ? code
                                                                                           : -1;
}

void append_utf8(std::uint32_t code, std::string& out) {
  const auto byte = [&](std::uint32_t bits) { out.push_back(static_cast<char>(bits)); };
  const auto last = [&](std::uint32_t shift) { byte(0x80U | (code >> shift & 0x3fU)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xc0U | code >> 6U), last(0);
  if (code < 0x10000) return byte(0xe0U | code >> 12U), last(6), last(0);
  byte(0xf0U | code >> 18U), last(12), last(6), last(0);
}

}  // namespace

std::size_t append_unicode_escape(std::string_view text, std::size_t at, std::string& out) {
  const int first = hex4(text, at);
  if (first < 0) return 0;
  const bool pair = first >= 0xd800 && first < 0xdc00 && at + 5 < text.size() &&
                    text[at + 4] == '\\' && text[at + 5] == 'u';
  const int second = pair ? hex4(text, at + 6) : -1;
  if (second >= 0xdc00 && second < 0xe000) {
    const int code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    return append_utf8(static_cast<std::uint32_t>(code), out), 10;
  }
  return append_utf8(static_cast<std::uint32_t>(first), out), 4;
}

}  // namespace ordeal
