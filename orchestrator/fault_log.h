// What was broken when, in plain words: `faults.log` in a run's folder, a line for each beginning,
// effect and end.
#pragma once

#include <chrono>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>

#include "history/operation.h"

namespace ordeal {

class FaultLog {
 public:
  // What cannot be written is not: the history has it all.
  explicit FaultLog(const std::filesystem::path& file) : file_(file) {}
  void add(std::chrono::nanoseconds time, Phase phase, const FaultEvent& event,
           const std::string& note);

 private:
  std::mutex mutex_;
  std::ofstream file_;
};

// One line, without its end: "   12.951 s  partition is in effect: ...".
std::string fault_words(std::chrono::nanoseconds time, Phase phase, const FaultEvent& event,
                        const std::string& note);

}  // namespace ordeal
