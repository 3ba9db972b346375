#include "base/huge_pages.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <numeric>

namespace ordeal {
namespace {

TEST_CASE("an array that grows large keeps what it holds and lies on huge pages") {
  BigVector<std::uint32_t> numbers;
  constexpr std::uint32_t kMany = 4 * kHugePage / sizeof(std::uint32_t);
  for (std::uint32_t i = 0; i < kMany; ++i) numbers.push_back(i);
  CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % kHugePage == 0);
  CHECK(std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0}) ==
        std::uint64_t{kMany} * (kMany - 1) / 2);
  const BigVector<std::uint32_t> copy = numbers;
  CHECK(copy == numbers);
  numbers.clear();
  numbers.shrink_to_fit();
  CHECK(numbers.capacity() == 0);
}

}  // namespace
}  // namespace ordeal
