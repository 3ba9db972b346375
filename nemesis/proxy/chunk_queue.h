// Bytes on their way in one direction, in the chunks in which they arrived, and how the stream ends
// behind them. Not thread-safe.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <list>
#include <string>
#include <string_view>

namespace ordeal::proxy {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
inline constexpr TimePoint kNever = TimePoint::max();

// What comes after the last byte.
enum class End {
  none,    // more bytes may come
  finish,  // no more bytes in this direction (FIN); the other one goes on
  close,   // both directions are over, in good order
  reset,   // both are over, by RST
};

class ChunkQueue {
 public:
  // The bound is soft: a chunk is taken whole while there is any room.
  void set_capacity(std::size_t bytes) { capacity_bytes_ = bytes; }
  std::size_t room() const {
    return bytes_ < capacity_bytes_ && end_ == End::none ? capacity_bytes_ - bytes_ : 0;
  }

  bool empty() const { return chunks_.empty(); }
  std::size_t bytes() const { return bytes_; }
  // Of the first chunk; there must be one.
  std::string_view front() const {
    return std::string_view(chunks_.front().bytes).substr(chunks_.front().begin);
  }
  TimePoint front_arrived() const { return chunks_.front().arrived; }

  // No-op for no bytes. The queue must not have ended.
  void push(std::string bytes, TimePoint now);
  // Drops the first `count` bytes of the first chunk, at most all of it.
  void drop(std::size_t count);
  void drop_all();
  // Moves the first `count` bytes of the first chunk, at most all of it, to the back of `to`.
  void move(std::size_t count, ChunkQueue& to, TimePoint now);
  // Moves everything, the end included, whether or not there is room.
  void move_all(ChunkQueue& to, TimePoint now);

  // The first end counts, unless a later one is more drastic.
  void end(End end, TimePoint now);
  End ended() const { return end_; }
  TimePoint ended_at() const { return ended_at_; }
  // All bytes are gone, and there will be no more.
  bool exhausted() const { return end_ != End::none && chunks_.empty(); }

 private:
  struct Chunk {
    std::string bytes;
    std::size_t begin = 0;  // what comes before has gone already
    TimePoint arrived;
  };

  std::list<Chunk> chunks_;
  std::size_t bytes_ = 0;
  std::size_t capacity_bytes_ = std::size_t{64} * 1024;
  End end_ = End::none;
  TimePoint ended_at_;
};

// What most stages do with the end of their input: pass it on as soon as all bytes have gone.
inline void pass_end(const ChunkQueue& in, ChunkQueue& out, TimePoint now) {
  if (in.exhausted()) out.end(in.ended(), now);
}

}  // namespace ordeal::proxy
