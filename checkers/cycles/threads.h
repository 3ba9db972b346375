// How parts of an analysis that do not need each other are carried out: large histories on a thread
// of their own, small ones, where a thread costs more than it saves, when the result is asked for.
#pragma once

#include <cstdint>
#include <future>

namespace ordeal::cycles {

inline std::launch aside_from(std::uint32_t transactions) {
  return transactions < 5'000 ? std::launch::deferred : std::launch::async;
}

}  // namespace ordeal::cycles
