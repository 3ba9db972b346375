// limit_data: the connection is closed when so many bytes have been delivered.
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class LimitData final : public Stage {
 public:
  void update(const Attributes& attributes) override {
    limit_bytes_ = static_cast<std::size_t>(attribute(attributes, "bytes"));
  }

  TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) override {
    while (!in.empty() && out.room() > 0 && passed_bytes_ < limit_bytes_) {
      const std::size_t count = std::min(in.front().size(), limit_bytes_ - passed_bytes_);
      in.move(count, out, now);
      passed_bytes_ += count;
    }
    if (passed_bytes_ >= limit_bytes_) {
      out.end(End::close, now);
    } else {
      pass_end(in, out, now);
    }
    return kNever;
  }

 private:
  std::size_t limit_bytes_ = 0;
  std::size_t passed_bytes_ = 0;
};

constexpr AttributeSpec kAttributes[] = {
    {"bytes", "bytes that are delivered before the connection is closed"},
};

}  // namespace

ToxicEntry limit_data_toxic() {
  return {{"limit_data", "Closes the connection after so many bytes", kAttributes},
          make_stage<LimitData>};
}

}  // namespace ordeal::proxy
