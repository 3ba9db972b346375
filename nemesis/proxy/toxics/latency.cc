// latency: every chunk, and the end, arrives later. Chunks never overtake each other.
#include <optional>

#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class Latency final : public Stage {
 public:
  explicit Latency(Random random) : random_(random) {}

  void update(const Attributes& attributes) override {
    latency_ = milliseconds_of(attributes, "latency");
    jitter_ = milliseconds_of(attributes, "jitter");
    due_.reset();
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    while (!in.empty() && out.room() > 0) {
      if (const TimePoint at = due(in.front_arrived()); at > now) return at;
      due_.reset();
      in.move(in.bytes(), out, now);
    }
    if (!in.exhausted()) return kNever;
    if (const TimePoint at = due(in.ended_at()); at > now) return at;
    pass_end(in, out, now);
    return kNever;
  }

  // What is on its way at 1 GB/s and a few milliseconds, or slower and longer.
  std::size_t capacity_bytes() const override { return std::size_t{16} * 1024 * 1024; }

 private:
  // Drawn once for what is at the front.
  TimePoint due(TimePoint arrived) {
    if (!due_) {
      const std::int64_t spread = jitter_.count();
      const Clock::duration delay = latency_ + Clock::duration(random_.between(-spread, spread));
      due_ = arrived + std::max(delay, Clock::duration::zero());
    }
    return *due_;
  }

  Random random_;
  Clock::duration latency_{}, jitter_{};
  std::optional<TimePoint> due_;
};

constexpr AttributeSpec kAttributes[] = {
    {"latency", "delay in milliseconds", 0, 0, kMillisecondsMax},
    {"jitter", "by how much the delay varies, up and down, in milliseconds", 0, 0,
     kMillisecondsMax},
};

}  // namespace

ToxicEntry latency_toxic() {
  return {{"latency", "Delays all data, and the end, by latency +/- jitter", kAttributes},
          make_random_stage<Latency>};
}

}  // namespace ordeal::proxy
