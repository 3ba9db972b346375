#include "base/random.h"

#include <cmath>

namespace ordeal {
namespace {

// SplitMix64's finaliser (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
// 2014).
std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

}  // namespace

Random::Random(std::uint64_t seed) : seed_(seed), engine_(mix(seed + 0x9e3779b97f4a7c15U)) {}

Random Random::derive(std::string_view label) const {
  std::uint64_t hash = mix(seed_ + 0x9e3779b97f4a7c15U);
  for (const char c : label) hash = mix(hash ^ static_cast<unsigned char>(c)) + 0x9e3779b97f4a7c15U;
  return Random(hash);
}

std::uint64_t Random::below(std::uint64_t bound) {
  assert(bound > 0);
  const std::uint64_t unbiased_from = (0 - bound) % bound;
  for (;;) {
    if (const std::uint64_t draw = next(); draw >= unbiased_from) return draw % bound;
  }
}

std::int64_t Random::between(std::int64_t low, std::int64_t high) {
  assert(low <= high);
  const auto width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) +
                                   (width == 0 ? next() : below(width)));
}

double Random::unit() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }

double Random::exponential() { return -std::log1p(-unit()); }

}  // namespace ordeal
