// Carries out planned faults: journal first, then a watchdog on each host, then the fault, on all
// its hosts at once, then a look at its effect; and the way back. What a fault is, is in its plan
// (nemesis/nemesis.h).
//
// Each injection and each healing is recorded as an operation of process kNemesis: invoke when it
// begins, info when it is done, with what was measured, or with a note where it failed. A fault
// that has no effect has failed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/strong_id.h"
#include "history/operation.h"
#include "nemesis/in_process.h"
#include "nemesis/journal.h"
#include "nemesis/nemesis.h"
#include "nemesis/undo.h"

namespace ordeal {

using FaultId = StrongId<struct FaultTag>;  // 1, 2, ... within a run

// "start-partition", "stop-partition": Operation::function of a fault's event.
std::string fault_function(const FaultEvent& event);
// The legs that it strikes, else the hosts: "n1, n2".
std::string fault_place(const FaultEvent& event);

struct EngineSettings {
  std::chrono::milliseconds command_timeout = kCommandTimeout;  // of one command on one host
  // Watchdogs undo a fault when, after the injection, its duration and this time are over, of which
  // some goes into seeing the effect.
  std::chrono::milliseconds watchdog_grace{30'000};
  std::chrono::milliseconds probe_timeout = kProbeTimeout;
};

struct Retries {
  int attempts = 5;
  std::chrono::milliseconds backoff{200};  // after the first attempt; doubles with each
};

struct ActiveFault {
  FaultId id;
  FaultEvent event;
  std::chrono::steady_clock::time_point since;
  friend bool operator==(const ActiveFault&, const ActiveFault&) = default;
};

struct FaultCounts {
  std::size_t injected = 0;  // fully, on all hosts, and seen to be there
  std::size_t healed = 0;
  std::size_t failed = 0;  // injections that failed and were undone
};

// Thread-safe. What injections and healings do to hosts excludes each other; that their effects are
// looked at does not, since it may take seconds.
class FaultEngine {
 public:
  using Record = std::function<void(Phase phase, const FaultEvent& event, const std::string& note)>;

  // `cluster`, `journal` and what `battlefield` refers to outlive the engine. `record` is called
  // from the thread that injects or heals.
  FaultEngine(const Cluster& cluster, Battlefield battlefield, HealJournal& journal, Record record,
              EngineSettings settings = {});

  // Returns once the effect was seen, which fails where it was not seen `within` that time from the
  // beginning: one deadline over all waits, of all hosts, legs and directions.
  // `duration` is the planned one; it sets the watchdogs' deadline. On failure everything has been
  // undone, or, where that failed too, the fault stays active() for heal_all(). A requested stop
  // fails with `stopped`, in the same way.
  Result<FaultId> inject(const Fault& fault, std::chrono::milliseconds duration,
                         std::stop_token stop,
                         std::chrono::milliseconds within = std::chrono::milliseconds::max());
  // Undoes the fault on all its hosts, and sees that it is gone. Healing what is not active
  // succeeds and records nothing. On failure the fault stays active. What cannot be seen since
  // another fault is active is looked at again by heal_all().
  Status heal(FaultId id, std::stop_token stop = {});
  // Heals all active faults, newest first, with retries. The error names what could not be healed
  // on which host, and says that `ordeal heal` and the watchdogs remain.
  Status heal_all(const Retries& retries = {}, std::stop_token stop = {});

  std::vector<ActiveFault> active() const;
  // By name of the fault; for coverage and the vacuity check.
  std::map<std::string, FaultCounts> happened() const;

 private:
  struct Injected {
    ActiveFault active;
    PendingUndo undo;
    std::vector<InProcess> in_process;
  };

  Injected begin(const Fault& fault, FaultPlan plan, std::chrono::milliseconds duration);
  Error refuse(const Fault& fault, const Error& error);
  FaultEvent event_of(const Fault& fault, const FaultPlan& plan) const;
  Status carry_out(const FaultPlan& plan, const Injected& injected,
                   std::chrono::milliseconds duration, std::stop_token stop);
  Status arm_and_inject(Host& host, const FaultPlan& plan, const PendingUndo& undo,
                        std::chrono::milliseconds duration, std::stop_token stop);
  Result<Seen> see_effect(const FaultPlan& plan, std::chrono::steady_clock::time_point cutoff,
                          std::stop_token stop) const;
  // What was seen of the way back.
  Result<std::string> undo(const Injected& injected, std::stop_token stop);
  bool is_only_fault() const;
  Status heal_active(std::stop_token stop);
  Status see_what_was_hidden(std::stop_token stop);
  std::optional<Injected> find(FaultId id) const;
  void count(const std::string& fault, std::size_t FaultCounts::*counter);

  const Cluster& cluster_;
  const Battlefield battlefield_;
  HealJournal& journal_;
  const Record record_;
  const EngineSettings settings_;

  std::mutex acting_;         // held while hosts are broken or mended, not while they are looked at
  mutable std::mutex state_;  // guards what follows
  std::int64_t last_id_ = 0;
  std::vector<Injected> injected_;
  std::map<std::string, FaultCounts> counts_;
  std::vector<PendingUndo> hidden_;  // healed while other faults hid whether they were
};

}  // namespace ordeal
