// half_open: the destination believes that the connection lives, but nothing arrives any more, not
// even its end, as when a host lost power or a firewall forgot the connection. Taking it out resets
// the connection where anything was swallowed: that is how a peer learns it in the end.
#include "nemesis/proxy/toxics/catalog.h"

namespace ordeal::proxy {
namespace {

class HalfOpen final : public Stage {
 public:
  void update(const Attributes&) override {}

  TimePoint step(ChunkQueue& in, ChunkQueue&, TimePoint) override {
    swallowed_ = swallowed_ || !in.empty() || in.ended() != End::none;
    in.drop_all();
    return kNever;
  }

  End end_on_removal() const override { return swallowed_ ? End::reset : End::none; }

 private:
  bool swallowed_ = false;
};

}  // namespace

ToxicEntry half_open_toxic() {
  return {{"half_open",
           "Swallows all data and the end: one side believes the connection lives",
           {},
           true},
          make_stage<HalfOpen>};
}

}  // namespace ordeal::proxy
