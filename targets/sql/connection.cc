#include "targets/sql/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace ordeal::sql {

std::string sql_isolation(std::string_view isolation) {
  std::string name(isolation);
  std::replace(name.begin(), name.end(), '-', ' ');
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return name;
}

std::int64_t integer(const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, number);
  if (parsed.ec == std::errc{} && parsed.ptr == end) return number;
  throw std::runtime_error(fmt::format("expected a whole number, and read \"{}\"", text));
}

}  // namespace ordeal::sql
