// timeout: nothing gets through, and after a while the connection is closed. The end of the source
// is passed on (half_open conceals it).
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class Timeout final : public Stage {
 public:
  explicit Timeout(TimePoint begin) : begin_(begin) {}

  void update(const Attributes& attributes) override {
    timeout_ = milliseconds_of(attributes, "timeout");
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    swallowed_ = swallowed_ || !in.empty();
    in.drop_all();
    pass_end(in, out, now);
    if (timeout_ == Clock::duration::zero()) return kNever;
    if (begin_ + timeout_ > now) return begin_ + timeout_;
    out.end(End::close, now);
    return kNever;
  }

  End end_on_removal() const override { return swallowed_ ? End::close : End::none; }

 private:
  TimePoint begin_;
  Clock::duration timeout_{};
  bool swallowed_ = false;
};

constexpr AttributeSpec kAttributes[] = {
    {"timeout", "milliseconds until the connection is closed; 0: never", 0, 0, kMillisecondsMax},
};

std::unique_ptr<Stage> make(Random, TimePoint begin) { return std::make_unique<Timeout>(begin); }

}  // namespace

ToxicEntry timeout_toxic() {
  return {{"timeout", "Swallows all data, and closes the connection after the timeout", kAttributes,
           true},
          make};
}

}  // namespace ordeal::proxy
