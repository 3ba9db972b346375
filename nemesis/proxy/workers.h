// The threads that carry data, each with an event loop of its own: a connection stays on one, so
// what belongs to it needs no lock. For .cc files of this directory only (it includes Asio).
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "base/result.h"
#include "nemesis/proxy/pipe.h"

namespace ordeal::proxy {

namespace asio = boost::asio;
using ErrorCode = boost::system::error_code;
using tcp = asio::ip::tcp;
// Bound to the loop's executor itself, which costs less than the type-erased default.
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;

struct Worker {
  asio::io_context loop{1};
  asio::executor_work_guard<asio::io_context::executor_type> guard = asio::make_work_guard(loop);
  // What is read goes through here, and in the same breath on to the destination or into a queue.
  std::vector<char> scratch = std::vector<char>(std::size_t{256} * 1024);
  PipePool pipes;
  std::jthread thread;

  // Runs `function` on the worker's thread and waits for its result. Not for the worker itself.
  template <class Function>
  auto run(Function function) {
    std::packaged_task<decltype(function())()> task(std::move(function));
    auto result = task.get_future();
    asio::post(loop, std::ref(task));
    return result.get();
  }
};

class Workers {
 public:
  static Result<std::unique_ptr<Workers>> start(unsigned threads);
  ~Workers();  // stops the loops; what they hold goes with them
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  Worker& first() { return *workers_.front(); }
  // In turn.
  Worker& next() { return *workers_[turn_++ % workers_.size()]; }
  std::vector<std::unique_ptr<Worker>>& all() { return workers_; }

 private:
  Workers() = default;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::size_t turn_ = 0;  // used on the first worker's thread only
};

}  // namespace ordeal::proxy
