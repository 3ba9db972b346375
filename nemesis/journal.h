// The heal journal: before a fault is injected, its undo is on disk in the run's folder, so that
// `ordeal heal RUN` heals the hosts after the run itself was killed.
//
// A file of JSON lines, each fsynced before the call returns:
//   {"event": "begin", "id": "k3f9-1", "fault": "partition", "detail": "...",
//    "undo": [{"host": "n1", "commands": [{"arguments": [...], "environment": {...},
//                                          "user": "", "stdin": ""}]}],
//    "healed": [the same: probes that tell whether the undo worked],
//    "watchdog_at": 1700000000}
//   {"event": "healed", "id": "k3f9-1"}
// A torn last line is what SIGKILL or a full disk leaves; it is ignored, since the fault that it
// announces was not injected. Any other line that is no entry is damage, and hides no other line.
// No secrets: undo commands carry none.
//
// Who writes it has locked it (fcntl(2)), so that nobody heals under a run that is still going. The
// lock is the process', ends with it, and is not inherited.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"
#include "nemesis/nemesis.h"

namespace ordeal {

inline constexpr const char* kJournalFile = "heal.jsonl";

struct PendingUndo {
  std::string id;  // unique among runs on the same hosts; also names the watchdogs: [a-z0-9-]+
  std::string fault;
  std::string detail;
  std::vector<HostCommands> undo;
  std::vector<HostCommands> healed{};  // FaultPlan::healed
  // When the watchdogs undo it, to the second.
  std::chrono::system_clock::time_point watchdog_at{};
  friend bool operator==(const PendingUndo&, const PendingUndo&) = default;
};

// Thread-safe.
class HealJournal {
 public:
  // Creates the file or appends to it. bad_input where another process has it open.
  static Result<std::unique_ptr<HealJournal>> open(const std::filesystem::path& path);
  ~HealJournal();
  HealJournal(const HealJournal&) = delete;
  HealJournal& operator=(const HealJournal&) = delete;

  // On disk once this returns; a fault must not be injected when it fails.
  Status began(const PendingUndo& undo);
  Status healed(const std::string& id);

 private:
  HealJournal(int descriptor, std::filesystem::path path);
  Status append(std::string line);

  std::mutex mutex_;
  int descriptor_;
  std::filesystem::path path_;
};

// bad_input where a living process, which it names, has the journal open: a run, which heals its
// faults itself. What is no file, or cannot be read, is nobody's. Not to be called by the process
// that has it open, whose lock it would end.
Status check_unused(const std::filesystem::path& path);

// What a journal says.
struct JournalRecord {
  struct Damage {
    int line;           // from 1
    std::string begin;  // of its text
  };
  bool exists = false;
  std::size_t begun = 0;             // faults, healed or not
  std::vector<PendingUndo> pending;  // that were not healed, oldest first
  // Whether these announced a fault or a healing is unknown. A fault whose healing is lost is
  // pending, which does no harm.
  std::vector<Damage> damage;
};

// Also where there is no file. bad_input where it cannot be read.
Result<JournalRecord> read_journal(const std::filesystem::path& path);

}  // namespace ordeal
