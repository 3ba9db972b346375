// What a toxic has done to a leg's connections so far, counted where it acts: the measure of a
// fault that no probe from outside could take as well.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "nemesis/proxy/chunk_queue.h"

namespace ordeal::proxy {

struct ToxicEffect {
  std::uint64_t delayed_bytes = 0;  // by a millisecond or more
  std::uint64_t longest_delay_ms = 0;
  std::uint64_t swallowed_bytes = 0;
  std::uint64_t ended = 0;      // streams that it ended
  std::uint64_t late_ends = 0;  // ends that it held back
};

// "delayed 3,812 bytes, by up to 213 ms; ended 2 streams"; "" where there was nothing yet.
std::string effect_text(const ToxicEffect& effect);

// Thread-safe.
class EffectCounters {
 public:
  // What a stage's queues were like before its step.
  struct Before {
    Before(const ChunkQueue& in, const ChunkQueue& out);

    std::size_t in_bytes, out_bytes;
    TimePoint arrived;  // of the first chunk; kNever: there is none
  };

  void count(const Before& before, const ChunkQueue& in, const ChunkQueue& out, TimePoint now);
  void count_late_end() { ++late_ends_; }
  ToxicEffect seen() const;

 private:
  std::atomic<std::uint64_t> delayed_bytes_{0}, longest_delay_ms_{0}, swallowed_bytes_{0},
      ended_{0}, late_ends_{0};
};

}  // namespace ordeal::proxy
