// Taking a lab of namespaces or guests down: everything is found by name, not remembered, so that
// this works on whatever a killed builder left.
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "orchestrator/lab/lab_state.h"
#include "orchestrator/lab/processes.h"
#include "orchestrator/lab/scaffold.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kKillTimeout{10'000};

std::vector<fs::path> namespaces_in(const fs::path& directory, std::string_view lab) {
  const std::string prefix = netns_name(lab, "");
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    const bool ours =
        name.starts_with(prefix) && name.find('-', prefix.size()) == std::string::npos;
    if (ours) found.push_back(entry.path());
  }
  return found;
}

std::vector<ino_t> inodes(const std::vector<fs::path>& files) {
  std::vector<ino_t> result;
  for (const fs::path& file : files) {
    struct stat found {};
    if (stat(file.c_str(), &found) == 0) result.push_back(found.st_ino);
  }
  return result;
}

// Its builders first: they would go on adding namespaces and processes.
Status kill_processes(std::string_view lab, const std::vector<fs::path>& namespaces) {
  const std::string mark = lab_mark(lab);
  ORDEAL_TRY(kill_all([&](pid_t pid) { return started_with(pid, mark); }, kKillTimeout));
  const std::vector<ino_t> inside = inodes(namespaces);
  return kill_all(
      [&](pid_t pid) {
        return std::find(inside.begin(), inside.end(), network_namespace_of(pid)) != inside.end();
      },
      kKillTimeout);
}

// As `ip netns delete` does it. A file that is no mount is what an interrupted `ip netns add`
// leaves.
Status remove_namespace(const fs::path& file) {
  while (umount2(file.c_str(), MNT_DETACH) == 0) {
  }
  if (unlink(file.c_str()) == 0 || errno == ENOENT) return {};
  return surroundings_error("cannot remove {}: {}", file.string(), strerror(errno));
}

// `ip netns add` mounts the directory onto itself; once it is empty, nobody needs that. Another lab
// may be about to use it; since the lock is held, none can begin to.
void tidy_netns_directory(std::string_view lab) {
  const std::vector<std::string> labs = known_labs();
  const bool alone =
      std::all_of(labs.begin(), labs.end(), [&](const std::string& other) { return other == lab; });
  const std::string directory(kNetnsDirectory);
  std::error_code error;
  if (!alone || !fs::is_empty(directory, error) || error) return;
  umount2(directory.c_str(), 0);
  rmdir(directory.c_str());
}

}  // namespace

Status destroy_scaffold(std::string_view lab) {
  // A second pass sees what a builder did between being seen and being killed.
  for (std::vector<fs::path> found; true;) {
    ORDEAL_TRY(kill_processes(lab, namespaces_in(kNetnsDirectory, lab)));
    found = namespaces_in(kNetnsDirectory, lab);
    if (found.empty()) break;
    ORDEAL_TRY(kill_processes(lab, found));
    for (const fs::path& file : found) ORDEAL_TRY(remove_namespace(file));
  }
  tidy_netns_directory(lab);
  std::error_code error;
  for (const fs::path& names : namespaces_in("/etc/netns", lab)) fs::remove_all(names, error);
  rmdir("/etc/netns");
  return {};
}

}  // namespace ordeal
