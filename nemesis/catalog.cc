// The list of all faults: one line each.
#include "nemesis/clock_skew.h"
#include "nemesis/nemesis.h"
#include "nemesis/partition.h"
#include "nemesis/process.h"

namespace ordeal {

std::span<const FaultEntry> fault_catalog() {
  static const FaultEntry kFaults[] = {
      partition_fault(), partition_hosts_fault(), pause_fault(),      kill_fault(),
      stop_fault(),      restart_fault(),         clock_skew_fault(),
  };
  return kFaults;
}

}  // namespace ordeal
