#include "nemesis/proxy/effect.h"

#include <fmt/format.h>

namespace ordeal::proxy {
namespace {

std::uint64_t milliseconds_since(TimePoint then, TimePoint now) {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(now - then).count();
  return passed > 0 ? static_cast<std::uint64_t>(passed) : 0;
}

void raise_to(std::atomic<std::uint64_t>& most, std::uint64_t value) {
  std::uint64_t seen = most;
  while (seen < value && !most.compare_exchange_weak(seen, value)) {
  }
}

void add(std::string& text, const std::string& part) { text += (text.empty() ? "" : "; ") + part; }

}  // namespace

std::string effect_text(const ToxicEffect& effect) {
  std::string text;
  if (effect.delayed_bytes > 0) {
    add(text, fmt::format("delayed {} bytes, by up to {} ms", effect.delayed_bytes,
                          effect.longest_delay_ms));
  }
  if (effect.swallowed_bytes > 0) {
    add(text, fmt::format("swallowed {} bytes", effect.swallowed_bytes));
  }
  if (effect.ended > 0) add(text, fmt::format("ended {} streams", effect.ended));
  if (effect.late_ends > 0) add(text, fmt::format("held back {} ends", effect.late_ends));
  return text;
}

EffectCounters::Before::Before(const ChunkQueue& in, const ChunkQueue& out)
    : in_bytes(in.bytes()),
      out_bytes(out.bytes()),
      arrived(in.empty() ? kNever : in.front_arrived()) {}

void EffectCounters::count(const Before& before, const ChunkQueue& in, const ChunkQueue& out,
                           TimePoint now) {
  const std::size_t taken = before.in_bytes - in.bytes();
  const std::size_t passed = out.bytes() - before.out_bytes;
  if (taken > passed) swallowed_bytes_ += taken - passed;
  if (passed > 0 && before.arrived != kNever) {
    const std::uint64_t delay = milliseconds_since(before.arrived, now);
    if (delay > 0) delayed_bytes_ += passed;
    raise_to(longest_delay_ms_, delay);
  }
  if (out.ended() != End::none && in.ended() == End::none) ++ended_;
}

ToxicEffect EffectCounters::seen() const {
  return {delayed_bytes_, longest_delay_ms_, swallowed_bytes_, ended_, late_ends_};
}

}  // namespace ordeal::proxy
