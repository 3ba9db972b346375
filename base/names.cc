#include "base/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace ordeal {
namespace {

constexpr std::size_t kNamesMax = 40;  // that a message lists

// Levenshtein's distance, one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const auto candidate : known) {
    if (const auto distance = edit_distance(name, candidate); distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> known) {
  if (known.empty())
    return fmt::format("unknown {} \"{}\": there are none to choose from", kind, name);
  if (const auto near = nearest_name(name, known); !near.empty()) {
    return fmt::format("unknown {} \"{}\"; did you mean \"{}\"?", kind, name, near);
  }
  if (known.size() > kNamesMax) {
    return fmt::format("unknown {} \"{}\": none of the {} known ones is like it; see `ordeal list`",
                       kind, name, known.size());
  }
  return fmt::format("unknown {} \"{}\"; known: {}", kind, name, fmt::join(known, ", "));
}

}  // namespace ordeal
