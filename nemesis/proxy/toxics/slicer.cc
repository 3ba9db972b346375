// slicer: data arrives in small pieces, one after the other.
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class Slicer final : public Stage {
 public:
  explicit Slicer(Random random) : random_(random) {}

  void update(const Attributes& attributes) override {
    average_ = static_cast<std::int64_t>(attribute(attributes, "average_size"));
    variation_ = static_cast<std::int64_t>(attribute(attributes, "size_variation"));
    delay_ = milliseconds_of(attributes, "delay") / 1000;
    next_ = TimePoint();
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    while (!in.empty() && out.room() > 0) {
      if (next_ > now) return next_;
      in.move(static_cast<std::size_t>(average_ + random_.between(-variation_, variation_)), out,
              now);
      next_ = now + delay_;
    }
    pass_end(in, out, now);
    return kNever;
  }

 private:
  Random random_;
  std::int64_t average_ = 1, variation_ = 0;
  Clock::duration delay_{};
  TimePoint next_;
};

constexpr AttributeSpec kAttributes[] = {
    {"average_size", "bytes in a piece, on average", 64, 1, 1e9},
    {"size_variation", "by how many bytes pieces vary, up and down; less than average_size", 0, 0,
     1e9},
    {"delay", "microseconds between pieces", 0, 0, kMillisecondsMax},
};

Status check(const Attributes& attributes) {
  const double average = attribute(attributes, "average_size");
  const double variation = attribute(attributes, "size_variation");
  if (variation < average) return {};
  return bad_input("toxic slicer: size_variation is {}; expected less than average_size, {}",
                   variation, average);
}

}  // namespace

ToxicEntry slicer_toxic() {
  return {{"slicer", "Cuts data into small pieces, with a pause after each", kAttributes},
          make_random_stage<Slicer>,
          check};
}

}  // namespace ordeal::proxy
