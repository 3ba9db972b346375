#include "nemesis/proxy/chunk_queue.h"

#include <cassert>
#include <utility>

namespace ordeal::proxy {

void ChunkQueue::push(std::string bytes, TimePoint now) {
  assert(end_ == End::none);
  if (bytes.empty()) return;
  bytes_ += bytes.size();
  chunks_.push_back(Chunk{std::move(bytes), 0, now});
}

void ChunkQueue::drop(std::size_t count) {
  Chunk& chunk = chunks_.front();
  count = std::min(count, chunk.bytes.size() - chunk.begin);
  chunk.begin += count;
  bytes_ -= count;
  if (chunk.begin == chunk.bytes.size()) chunks_.pop_front();
}

void ChunkQueue::drop_all() {
  chunks_.clear();
  bytes_ = 0;
}

void ChunkQueue::move(std::size_t count, ChunkQueue& to, TimePoint now) {
  assert(to.end_ == End::none);
  Chunk& chunk = chunks_.front();
  const std::size_t left = chunk.bytes.size() - chunk.begin;
  if (count < left) {
    to.push(std::string(front().substr(0, count)), now);
    drop(count);
    return;
  }
  chunk.arrived = now;
  bytes_ -= left;
  to.bytes_ += left;
  to.chunks_.splice(to.chunks_.end(), chunks_, chunks_.begin());
}

void ChunkQueue::move_all(ChunkQueue& to, TimePoint now) {
  if (to.end_ == End::none) {
    while (!empty()) move(bytes_, to, now);
  }
  if (end_ != End::none) to.end(end_, now);
}

void ChunkQueue::end(End end, TimePoint now) {
  if (end <= end_) return;
  end_ = end;
  ended_at_ = now;
}

}  // namespace ordeal::proxy
