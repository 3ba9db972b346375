#include "nemesis/proxy/workers.h"

#include <algorithm>
#include <system_error>

namespace ordeal::proxy {

Result<std::unique_ptr<Workers>> Workers::start(unsigned threads) {
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
  try {
    auto workers = std::unique_ptr<Workers>(new Workers);
    for (unsigned i = 0; i < threads; ++i) {
      auto worker = std::make_unique<Worker>();
      workers->guards_.push_back(asio::make_work_guard(worker->loop));
      worker->thread = std::jthread([loop = &worker->loop] { loop->run(); });
      workers->workers_.push_back(std::move(worker));
    }
    return workers;
  } catch (const std::system_error& error) {
    return surroundings_error("fault proxy: {} threads can't be started: {}", threads,
                              error.what());
  }
}

Workers::~Workers() {
  for (auto& worker : workers_) worker->loop.stop();
  for (auto& worker : workers_) worker->thread.join();
}

}  // namespace ordeal::proxy
