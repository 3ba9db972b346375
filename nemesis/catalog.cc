// The list of all faults: one line each.
#include "nemesis/clock_skew.h"
#include "nemesis/leg_toxics.h"
#include "nemesis/nemesis.h"
#include "nemesis/partition.h"
#include "nemesis/process.h"

namespace ordeal {

namespace {

std::vector<FaultEntry> all_faults() {
  std::vector<FaultEntry> faults{
      partition_fault(), partition_hosts_fault(), pause_fault(),      kill_fault(),
      stop_fault(),      restart_fault(),         clock_skew_fault(),
  };
  for (const FaultEntry& of_proxy : leg_toxic_faults()) faults.push_back(of_proxy);
  return faults;
}

}  // namespace

std::span<const FaultEntry> fault_catalog() {
  static const std::vector<FaultEntry> kFaults = all_faults();
  return kFaults;
}

}  // namespace ordeal
