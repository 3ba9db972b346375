#include "cli/interrupts.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <initializer_list>
#include <stdexcept>

namespace ordeal {
namespace {

// Read by the signal handler, which may use nothing that allocates or locks.
std::atomic<int> signal_pipe{-1};
std::atomic<int> signals_seen{0};
std::atomic<const char*> farewell_text{nullptr};
std::atomic<std::size_t> farewell_size{0};

void on_signal(int) {
  if (signals_seen.fetch_add(1) > 0) {
    [[maybe_unused]] const auto written = write(STDERR_FILENO, farewell_text, farewell_size);
    _exit(3);
  }
  const char byte = 's';
  [[maybe_unused]] const auto written = write(signal_pipe, &byte, 1);
}

void handle(std::initializer_list<int> signals, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int signal : signals) sigaction(signal, &action, nullptr);
}

// A handler, since programs that we start would inherit SIG_IGN.
void on_broken_pipe(int) {}

}  // namespace

Interrupts::Interrupts(std::string farewell) : farewell_(std::move(farewell)) {
  if (pipe2(pipe_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for signals");
  farewell_text = farewell_.c_str();
  farewell_size = farewell_.size();
  signals_seen = 0;
  signal_pipe = pipe_[1];
  listener_ = std::jthread([this] {
    char byte = 0;
    if (read(pipe_[0], &byte, 1) == 1 && byte == 's') source_.request_stop();
  });
  handle({SIGINT, SIGTERM, SIGHUP}, on_signal);
  handle({SIGPIPE}, on_broken_pipe);
}

Interrupts::~Interrupts() {
  handle({SIGINT, SIGTERM, SIGHUP}, SIG_DFL);  // output is flushed later: SIGPIPE stays harmless
  const char byte = 'q';
  [[maybe_unused]] const auto written = write(pipe_[1], &byte, 1);
  listener_.join();
  close(pipe_[0]);
  close(pipe_[1]);
}

}  // namespace ordeal
