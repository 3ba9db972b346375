#include "nemesis/proxy/workers.h"

#include <algorithm>
#include <csignal>
#include <exception>

namespace ordeal::proxy {
namespace {

// Signals are for other threads, and a peer that went away is an error of the call (pipe.h).
void hold_signals_back() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Result<std::unique_ptr<Workers>> Workers::start(unsigned threads) {
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  try {
    auto workers = std::unique_ptr<Workers>(new Workers);
    for (unsigned i = 0; i < threads; ++i) {
      auto worker = std::make_unique<Worker>();
      worker->thread = std::jthread([loop = &worker->loop] {
        hold_signals_back();
        loop->run();
      });
      workers->workers_.push_back(std::move(worker));
    }
    return workers;
  } catch (const std::exception& error) {
    return surroundings_error("fault proxy: {} event loops can't be started: {}", threads,
                              error.what());
  }
}

Workers::~Workers() {
  for (auto& worker : workers_) worker->loop.stop();
  for (auto& worker : workers_) worker->thread.join();
  // The first loop's pending accepts hold sockets of the others, so it goes first.
  for (auto& worker : workers_) worker.reset();
}

}  // namespace ordeal::proxy
