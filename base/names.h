// "Did you mean": the nearest of the known names to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ordeal {

// The known name with the least edit distance to `name`, or "" when none is near enough to be
// meant.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

// `unknown fault "partitoin"; did you mean "partition"?` or, with nothing near, the list of all
// names, unless there are too many to read.
std::string unknown_name(std::string_view kind, std::string_view name,
                         std::span<const std::string_view> known);

// The `name` members of a catalogue, in order.
template <class Entries>
std::vector<std::string_view> names_of(const Entries& entries) {
  std::vector<std::string_view> names;
  for (const auto& entry : entries) names.push_back(entry.name);
  return names;
}

}  // namespace ordeal
