// Where runs live: STORE/<campaign>/<UTC time>-<seed>/, with links `latest` to the last one that
// recorded anything, beside the runs of a campaign and at the top of the store.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace ordeal {

struct RunFolder {
  std::filesystem::path path;
  std::string started;  // "2024-05-01T12:00:00Z"

  std::filesystem::path history() const { return path / "history.ohist"; }
  std::filesystem::path verdict() const { return path / "verdict.json"; }
  std::filesystem::path report() const { return path / "report.html"; }
  std::filesystem::path log() const { return path / "ordeal.log"; }
  std::filesystem::path campaign() const { return path / "campaign.yaml"; }
  std::filesystem::path fault_log() const { return path / "faults.log"; }
  std::filesystem::path schedule() const { return path / "schedule.yaml"; }
  std::filesystem::path lab() const { return path / "lab.json"; }
  std::filesystem::path provision_log() const { return path / "provision.log"; }
  std::filesystem::path journal() const;
  std::filesystem::path host(const std::string& name) const { return path / "hosts" / name; }
};

// Creates the folder of a new run.
Result<RunFolder> create_run_folder(const std::filesystem::path& store, const std::string& campaign,
                                    std::uint64_t seed, std::chrono::system_clock::time_point now);

// Points the `latest` links to the run. Called once its history is being recorded: a run that was
// refused before that leaves them alone.
Status link_latest(const RunFolder& folder);

// The files under hosts/ (logs of the servers), relative to the run's folder, sorted.
std::vector<std::string> host_files(const RunFolder& folder);

// Replaces the file at once: readers see the old or the new content, never half of one.
Status write_file(const std::filesystem::path& path, const std::string& content);

}  // namespace ordeal
