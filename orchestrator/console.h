// The terminal: one status line that is redrawn in place, and log lines that scroll above it. All
// of it goes to stderr; stdout is for results. Where stderr is no terminal, the status becomes a
// plain line now and then.
#pragma once

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"

namespace ordeal {

class ConsoleSink;

// Thread-safe.
class Console {
 public:
  explicit Console(bool quiet = false);
  ~Console();

  // Adds a log file, which gets every message; the terminal gets those of info and above.
  Status log_to(const std::filesystem::path& file);
  spdlog::logger& log() { return *logger_; }
  // Replaces the status line; "" removes it.
  void status(const std::string& line);
  bool is_terminal() const;

 private:
  std::shared_ptr<ConsoleSink> sink_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace ordeal
