// The list of all faults: one line each.
#include "nemesis/clock_skew.h"
#include "nemesis/data_damage.h"
#include "nemesis/disk.h"
#include "nemesis/host_clock.h"
#include "nemesis/leg_toxics.h"
#include "nemesis/nemesis.h"
#include "nemesis/packet_loss.h"
#include "nemesis/packet_shaping.h"
#include "nemesis/partition.h"
#include "nemesis/power.h"
#include "nemesis/process.h"

namespace ordeal {

namespace {

std::vector<FaultEntry> all_faults() {
  std::vector<FaultEntry> faults{
      partition_fault(),         // network
      partition_hosts_fault(),   //
      packet_loss_fault(),       //
      bandwidth_limit_fault(),   //
      packet_delay_fault(),      //
      packet_reorder_fault(),    //
      packet_duplicate_fault(),  //
      packet_corrupt_fault(),    //
      pause_fault(),             // processes
      kill_fault(),              //
      stop_fault(),              //
      restart_fault(),           //
      power_cut_fault(),         // machines
      kernel_panic_fault(),      //
      clock_skew_fault(),        // clocks
      clock_strobe_fault(),      //
      clock_drift_fault(),       //
      host_clock_skew_fault(),   //
      host_clock_strobe_fault(),
      host_clock_drift_fault(),
      disk_full_fault(),         // disks
      disk_readonly_fault(),     //
      disk_slow_fault(),         //
      dangerous_flip_bits_fault(),
      dangerous_truncate_fault(),
  };
  for (const FaultEntry& of_proxy : leg_toxic_faults()) faults.push_back(of_proxy);
  return faults;
}

}  // namespace

std::span<const FaultEntry> fault_catalog() {
  static const std::vector<FaultEntry> kFaults = all_faults();
  return kFaults;
}

const FaultEntry* find_fault(std::string_view name) {
  for (const FaultEntry& entry : fault_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace ordeal
