#include "report/html/escape.h"

#include <fmt/format.h>

#include <cstddef>

namespace ordeal {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
}

// Length of the well-formed UTF-8 sequence that `text` begins with, 0 where there is none
// (Unicode 15, table 3-7).
std::size_t sequence_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
  }
  const unsigned second = byte_at(text, 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool not_a_character = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
  return overlong || not_a_character ? 0 : length;
}

std::string_view entity(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return "";
  }
}

bool forbidden(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F;
}

}  // namespace

std::string html(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(text.substr(at));
    if (length == 0 || forbidden(text[at])) {
      escaped += kReplacement;
      ++at;
      continue;
    }
    const std::string_view special = entity(text[at]);
    escaped += special.empty() ? text.substr(at, length) : special;
    at += length;
  }
  return escaped;
}

std::string html_href(std::string_view relative_path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string href = "./";
  for (const char c : relative_path) {
    const bool alphanumeric =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (alphanumeric || kPlain.find(c) != std::string_view::npos) {
      href += c;
    } else {
      href += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return href;
}

}  // namespace ordeal
