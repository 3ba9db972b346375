#include "orchestrator/console.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <mutex>

namespace ordeal {
namespace {

constexpr std::string_view kEraseLine = "\r\x1b[K";
constexpr std::chrono::seconds kPlainInterval{
    5};  // between status lines where there is no terminal

}  // namespace

class ConsoleSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit ConsoleSink(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}

  bool is_terminal() const { return terminal_; }

  void status(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (quiet_) return;
    if (terminal_) {
      status_ = line;
      write(fmt::format("{}{}", kEraseLine, status_));
      return;
    }
    const auto now = std::chrono::steady_clock::now();
    if (line.empty() || now - last_plain_ < kPlainInterval) return;
    last_plain_ = now;
    write(line + "\n");
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    if (quiet_ && message.level < spdlog::level::warn) return;
    spdlog::memory_buf_t text;
    formatter_->format(message, text);
    const std::string_view erase = terminal_ && !status_.empty() ? kEraseLine : "";
    write(fmt::format("{}{}{}", erase, fmt::to_string(text), status_));
  }

  void flush_() override { std::fflush(stderr); }

  static void write(const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stderr);
    std::fflush(stderr);
  }

  bool quiet_;
  bool terminal_;
  std::string status_;
  std::chrono::steady_clock::time_point last_plain_{};
};

Console::Console(bool quiet)
    : sink_(std::make_shared<ConsoleSink>(quiet)),
      logger_(std::make_shared<spdlog::logger>("ordeal", sink_)) {
  sink_->set_level(spdlog::level::info);
  sink_->set_pattern("%H:%M:%S %^%l%$ %v");
  logger_->set_level(spdlog::level::debug);
  logger_->flush_on(spdlog::level::info);
}

Console::~Console() { status(""); }

Status Console::log_to(const std::filesystem::path& file) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string());
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
    logger_->sinks().push_back(std::move(sink));
    return {};
  } catch (const spdlog::spdlog_ex& error) {
    return surroundings_error("{}: cannot be written: {}", file.string(), error.what());
  }
}

void Console::status(const std::string& line) { sink_->status(line); }

bool Console::is_terminal() const { return sink_->is_terminal(); }

}  // namespace ordeal
