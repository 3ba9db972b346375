#include "nemesis/proxy/pipe.h"

#include <fcntl.h>
#include <unistd.h>

namespace ordeal::proxy {
namespace {

constexpr int kPipeBytes = 1 << 20;  // what an ordinary user may have (fcntl(2), F_SETPIPE_SZ)
constexpr std::size_t kIdleMax = 64;
constexpr unsigned kFlags = SPLICE_F_MOVE | SPLICE_F_NONBLOCK;

}  // namespace

Pipe::~Pipe() {
  for (const int end : ends_) close(end);
}

std::ptrdiff_t Pipe::fill(int source) {
  const auto count = splice(source, nullptr, ends_[1], nullptr, kPipeBytes, kFlags);
  if (count > 0) bytes_ += static_cast<std::size_t>(count);
  return count;
}

std::ptrdiff_t Pipe::drain(int destination) {
  const auto count = splice(ends_[0], nullptr, destination, nullptr, bytes_, kFlags);
  if (count > 0) bytes_ -= static_cast<std::size_t>(count);
  return count;
}

std::unique_ptr<Pipe> PipePool::borrow() {
  if (!idle_.empty()) {
    auto pipe = std::move(idle_.back());
    idle_.pop_back();
    return pipe;
  }
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return nullptr;
  fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);  // a smaller one will do
  return std::make_unique<Pipe>(ends);
}

void PipePool::give_back(std::unique_ptr<Pipe> pipe) {
  if (pipe->bytes() == 0 && idle_.size() < kIdleMax) idle_.push_back(std::move(pipe));
}

}  // namespace ordeal::proxy
