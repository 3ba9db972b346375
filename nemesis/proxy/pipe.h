// Pipes of the kernel, through which bulk data goes from socket to socket without being copied
// (splice(2)). A link borrows one while data is in it, so idle connections have none.
//
// A pool and its pipes belong to one thread, which must hold SIGPIPE back: splice raises it.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace ordeal::proxy {

class Pipe {
 public:
  explicit Pipe(std::array<int, 2> ends) : ends_(ends) {}
  ~Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  // As read(2) and write(2) on the non-blocking socket: count, 0 at the end, or -1 with errno.
  std::ptrdiff_t fill(int source);
  std::ptrdiff_t drain(int destination);
  std::size_t bytes() const { return bytes_; }

 private:
  std::array<int, 2> ends_;
  std::size_t bytes_ = 0;
};

class PipePool {
 public:
  // nullptr: no descriptors are left.
  std::unique_ptr<Pipe> borrow();
  void give_back(std::unique_ptr<Pipe> pipe);

 private:
  std::vector<std::unique_ptr<Pipe>> idle_;
};

}  // namespace ordeal::proxy
