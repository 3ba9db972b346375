// Where labs keep what is needed to find them again, and to whom they belong.
//
//   /run/ordeal/labs/NAME/    (root), or /tmp/ordeal-UID/labs/NAME/: kind, owner, lab.json, keys,
//   logs /tmp/ordeal-UID-NAME/     what hosts write: their root's upper layers, data of servers
//
// One lock for all labs of a user serialises claiming and taking down, not building.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "orchestrator/lab/lab.h"
#include "remote/unique_fd.h"

namespace ordeal {

struct LabPlaces {
  std::filesystem::path state;
  std::filesystem::path scratch;
};

LabPlaces lab_places(std::string_view name);
std::vector<std::string> known_labs();

enum class LabOwnership { none, kept, in_use, stale };
struct LabOwner {
  LabOwnership ownership = LabOwnership::none;
  int pid = 0;  // in_use: of the owner
};
LabOwner lab_owner(std::string_view name);
std::string lab_kind(std::string_view name);  // "" where not known

// Held while a lab is claimed or taken down.
class LabLock {
 public:
  static Result<LabLock> take();

 private:
  UniqueFd fd_;
};

// Makes both directories and writes down the owner. The lock is held, and no lab of the name
// exists.
Status claim_lab(const LabRequest& request);
// Once built: from now on the lab belongs to no process.
Status keep_lab(std::string_view name);
// Removes both directories. The lock is held.
Status forget_lab(std::string_view name);
// Removes the directory of all labs where there is none left. The lock is held, and is worth
// nothing afterwards.
void remove_empty_labs_directory();

Status write_file(const std::filesystem::path& file, std::string_view text);
bool libfaketime_installed();
// Whether strace may attach to processes of this machine's labs, which share its kernel.
bool may_trace();

}  // namespace ordeal
