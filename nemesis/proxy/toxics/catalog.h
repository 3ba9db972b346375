// The table of all toxics: each has a file of its own in this folder, which defines one function
// below. A new toxic is a file, a line here, a line in catalog.cc and a test.
#pragma once

#include <memory>
#include <vector>

#include "base/random.h"
#include "nemesis/proxy/stage.h"
#include "nemesis/proxy/toxic.h"

namespace ordeal::proxy {

struct ToxicEntry : ToxicType {
  // `begin` is when the toxic met the connection. The stage gets its attributes by update().
  std::unique_ptr<Stage> (*make)(Random random, TimePoint begin) = nullptr;
  // What must hold between attributes; the message names them.
  Status (*check)(const Attributes& attributes) = nullptr;
};

const std::vector<ToxicEntry>& toxic_catalog();
const ToxicEntry* find_toxic_type(std::string_view type);  // nullptr: there is none

ToxicEntry bandwidth_toxic();
ToxicEntry half_open_toxic();
ToxicEntry latency_toxic();
ToxicEntry limit_data_toxic();
ToxicEntry loss_toxic();
ToxicEntry reset_peer_toxic();
ToxicEntry slicer_toxic();
ToxicEntry slow_close_toxic();
ToxicEntry timeout_toxic();

// For the toxics' files. The attribute must have been declared.
inline double attribute(const Attributes& attributes, std::string_view name) {
  return attributes.find(name)->second;
}
inline Clock::duration milliseconds_of(const Attributes& attributes, std::string_view name) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double, std::milli>(attribute(attributes, name)));
}
// A hundred years, which a clock can still be added to.
inline constexpr double kMillisecondsMax = 3.15e12;
// For a stage that is made from nothing.
template <class T>
std::unique_ptr<Stage> make_stage(Random, TimePoint) {
  return std::make_unique<T>();
}
template <class T>
std::unique_ptr<Stage> make_random_stage(Random random, TimePoint) {
  return std::make_unique<T>(random);
}

}  // namespace ordeal::proxy
