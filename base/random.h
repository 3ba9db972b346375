// Seeded randomness that gives the same numbers on every machine and standard library. One root
// seed makes every generator of a run: derive() is a pure function of the parent's seed and a
// label, so the order in which threads start changes nothing.
//
// Not thread-safe; each thread has its own. Not for secrets.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

namespace ordeal {

class Random {
 public:
  explicit Random(std::uint64_t seed);

  // An independent generator for the part of the run called `label`, whatever was drawn so far.
  Random derive(std::string_view label) const;

  std::uint64_t next() { return engine_(); }
  // Uniform in [0, bound), bound > 0, without modulo bias.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high], both included.
  std::int64_t between(std::int64_t low, std::int64_t high);
  // Uniform in [0, 1).
  double unit();
  bool chance(double probability) { return unit() < probability; }
  // Exponentially distributed, mean 1.
  double exponential();

  template <class T>
  const T& pick(const std::vector<T>& from) {
    assert(!from.empty());
    return from[below(from.size())];
  }

 private:
  std::uint64_t seed_;
  std::mt19937_64 engine_;
};

}  // namespace ordeal
