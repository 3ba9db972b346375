// bandwidth: a limit of the rate. The source is slowed down, as by a slow line.
#include <algorithm>

#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

// What passes at once is what the rate allows in this time.
constexpr std::chrono::duration<double> kSlice = std::chrono::milliseconds(10);

class Bandwidth final : public Stage {
 public:
  void update(const Attributes& attributes) override {
    bytes_per_second_ = 1000 * attribute(attributes, "rate");
    next_ = TimePoint();
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    while (!in.empty() && out.room() > 0) {
      if (bytes_per_second_ == 0) return kNever;
      if (next_ > now) return next_;
      pass_slice(in, out, now);
    }
    pass_end(in, out, now);
    return kNever;
  }

 private:
  void pass_slice(ChunkQueue& in, ChunkQueue& out, TimePoint now) {
    const double most = std::max(1.0, bytes_per_second_ * kSlice.count());
    const std::size_t count = std::min(in.front().size(), static_cast<std::size_t>(most));
    in.move(count, out, now);
    // A timer that fired late is made up for, idle time beyond a few slices is not.
    const auto late = std::chrono::duration_cast<Clock::duration>(5 * kSlice);
    next_ = std::max(next_, now - late) + duration_of(count);
  }

  Clock::duration duration_of(std::size_t bytes) const {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(static_cast<double>(bytes) / bytes_per_second_));
  }

  double bytes_per_second_ = 0;
  TimePoint next_;
};

constexpr AttributeSpec kAttributes[] = {
    {"rate", "KB (1,000 bytes) per second; 0: nothing passes", 0, 0, 1e9},
};

}  // namespace

ToxicEntry bandwidth_toxic() {
  return {{"bandwidth", "Limits the rate", kAttributes}, make_stage<Bandwidth>};
}

}  // namespace ordeal::proxy
