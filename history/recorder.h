// Records a run to an .ohist file while it happens. record() gives each operation its index and
// time under one short lock and only moves it into a buffer; a thread of the recorder encodes,
// compresses, writes and syncs. So what was recorded more than `sync_interval` ago (plus the time
// that the disk takes) is on disk, even when this process is killed.
//
// Thread-safe. Indexes are gapless from 0, and times never decrease with the index. The first
// failed write (disk full, ...) ends writing for good: status() then says which file, why and what
// to do, the file stays readable up to the last block written, and record() goes on counting
// without keeping.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "history/header.h"
#include "history/operation.h"

namespace ordeal {

struct RecorderOptions {
  std::chrono::milliseconds sync_interval{50};
  std::size_t block_operations = 8192;  // a full block is written at once
  // Operations that may wait for a slow disk; past that record() waits for it, so that memory is
  // bounded.
  std::size_t pending_operations_max = 1'000'000;
};

// Operations recorded so far, by Phase. Faults (process kNemesis) are counted apart.
struct RecorderCounts {
  std::array<std::uint64_t, 4> phases{};
  std::uint64_t nemesis = 0;
  std::uint64_t of(Phase phase) const { return phases[static_cast<std::size_t>(phase)]; }
};

class Recorder {
 public:
  // Creates the file, which must not exist yet, and writes and syncs its header. Time 0 is now, and
  // header.start_time is set to now where it is not given.
  static Result<std::unique_ptr<Recorder>> create(const std::filesystem::path& path,
                                                  const HistoryHeader& header,
                                                  RecorderOptions options = {});
  ~Recorder();  // as close(), but nobody hears of errors
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // Returns the index of the operation. Record an invocation before it is sent and a completion
  // after it returned, so that the recorded interval contains the true one. After close() nothing
  // is kept any more.
  std::uint64_t record(ProcessId process, Phase phase, std::string function, Payload payload,
                       std::string note = "");

  std::chrono::nanoseconds now() const;  // since the run's start, the clock of Operation::time
  RecorderCounts counts() const;         // cheap: for a status line
  Status status() const;                 // the first error of writing
  Status close();                        // writes and syncs what is left; repeating it is harmless

 private:
  class Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ordeal
