// Ctrl-C (SIGTERM, a closed terminal): the first asks the run to stop in good order, the second
// ends the process at once and says how to heal what may be left. A closed stdout or stderr ends
// nothing.
#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace ordeal {

// One at a time in a process. Restores the handlers when it goes.
class Interrupts {
 public:
  // `farewell` is printed to stderr on the second signal.
  explicit Interrupts(std::string farewell);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::string farewell_;
  std::stop_source source_;
  int pipe_[2];
  std::jthread listener_;
};

}  // namespace ordeal
