// A stage is what a toxic does to one direction of one connection. It holds no bytes: what it
// wants to wait with stays in its input queue, so it can be changed or taken out at any moment
// without losing a byte that was accepted (chunk_queue.h). It does no I/O and never waits; the link
// (link.h) asks it again when something arrived, when there is room, or at the time it named.
#pragma once

#include <cstddef>

#include "nemesis/proxy/chunk_queue.h"
#include "nemesis/proxy/toxic.h"

namespace ordeal::proxy {

class Stage {
 public:
  virtual ~Stage() = default;

  // New attributes, complete and valid; also called once before the first step. State such as
  // bytes counted so far is kept.
  virtual void update(const Attributes& attributes) = 0;

  // Moves from `in` to `out` what may pass at `now`, while `out` has room; passes the end of `in`
  // on, or ends `out` itself. Not called any more once `out` has ended. Returns when it wants to be
  // asked again although nothing happens, or kNever.
  virtual TimePoint step(ChunkQueue& in, ChunkQueue& out, TimePoint now) = 0;

  // How the stream must end when the stage is taken out: anything but `none` where bytes are
  // missing, since TCP never delivers a stream with a hole.
  virtual End end_on_removal() const { return End::none; }

  // How many bytes may wait in its input before the source is no longer read.
  virtual std::size_t capacity_bytes() const { return std::size_t{64} * 1024; }
};

}  // namespace ordeal::proxy
