// slow_close: the end arrives later; data does not.
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class SlowClose final : public Stage {
 public:
  void update(const Attributes& attributes) override {
    delay_ = milliseconds_of(attributes, "delay");
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    while (!in.empty() && out.room() > 0) in.move(in.bytes(), out, now);
    if (!in.exhausted()) return kNever;
    if (in.ended_at() + delay_ > now) return in.ended_at() + delay_;
    pass_end(in, out, now);
    return kNever;
  }

 private:
  Clock::duration delay_{};
};

constexpr AttributeSpec kAttributes[] = {
    {"delay", "milliseconds until the end is passed on", 0, 0, kMillisecondsMax},
};

}  // namespace

ToxicEntry slow_close_toxic() {
  return {{"slow_close", "Passes the end of the stream on after a delay", kAttributes},
          make_stage<SlowClose>};
}

}  // namespace ordeal::proxy
