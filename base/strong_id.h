// Numbers that don't mix: StrongId<struct ProcessTag> and StrongId<struct NodeTag> are different
// types.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ordeal {

template <class Tag, class Representation = std::int64_t>
struct StrongId {
  Representation value{};
  friend constexpr auto operator<=>(StrongId, StrongId) = default;
};

}  // namespace ordeal

template <class Tag, class Representation>
struct std::hash<ordeal::StrongId<Tag, Representation>> {
  std::size_t operator()(ordeal::StrongId<Tag, Representation> id) const noexcept {
    return std::hash<Representation>{}(id.value);
  }
};
