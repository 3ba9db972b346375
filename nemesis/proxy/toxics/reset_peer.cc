// reset_peer: the connection is reset (RST to both sides), some time after the first data.
#include <optional>

#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class ResetPeer final : public Stage {
 public:
  void update(const Attributes& attributes) override {
    timeout_ = milliseconds_of(attributes, "timeout");
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    if (!first_ && !in.empty()) first_ = in.front_arrived();
    pass_end(in, out, now);
    if (!first_) return kNever;
    if (*first_ + timeout_ > now) return *first_ + timeout_;
    in.drop_all();
    out.end(End::reset, now);
    return kNever;
  }

 private:
  Clock::duration timeout_{};
  std::optional<TimePoint> first_;
};

constexpr AttributeSpec kAttributes[] = {
    {"timeout", "milliseconds from the first data to the reset", 0, 0, kMillisecondsMax},
};

}  // namespace

ToxicEntry reset_peer_toxic() {
  return {
      {"reset_peer", "Holds data back, and resets the connection after the timeout", kAttributes},
      make_stage<ResetPeer>};
}

}  // namespace ordeal::proxy
