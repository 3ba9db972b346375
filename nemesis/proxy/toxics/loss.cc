// loss: whole segments vanish and what follows moves up, so the destination sees a stream with
// holes. TCP itself would send again; this is for protocols that must notice damage.
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class Loss final : public Stage {
 public:
  explicit Loss(Random random) : random_(random) {}

  void update(const Attributes& attributes) override {
    probability_ = attribute(attributes, "probability");
    segment_bytes_ = static_cast<std::size_t>(attribute(attributes, "segment_size"));
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    while (!in.empty() && out.room() > 0) {
      if (random_.chance(probability_)) {
        in.drop(segment_bytes_);
      } else {
        in.move(segment_bytes_, out, now);
      }
    }
    pass_end(in, out, now);
    return kNever;
  }

 private:
  Random random_;
  double probability_ = 0;
  std::size_t segment_bytes_ = 1;
};

constexpr AttributeSpec kAttributes[] = {
    {"probability", "of each segment to be dropped, 0 to 1", 0, 0, 1, false},
    {"segment_size", "bytes of a segment at most; none spans what arrived apart", 1460, 1, 1e9},
};

}  // namespace

ToxicEntry loss_toxic() {
  return {{"loss", "Drops whole segments of the stream; bytes are lost", kAttributes, true},
          make_random_stage<Loss>};
}

}  // namespace ordeal::proxy
