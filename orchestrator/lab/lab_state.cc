#include "orchestrator/lab/lab_state.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "orchestrator/lab/processes.h"
#include "remote/abilities.h"
#include "remote/local_host.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::string_view kKept = "kept";
constexpr milliseconds kLockTimeout{60'000};

fs::path labs_directory() {
  if (geteuid() == 0 && fs::is_directory("/run")) return "/run/ordeal/labs";
  return "/tmp/ordeal-" + std::to_string(geteuid()) + "/labs";
}

// Names in /tmp can be taken by anybody, so what is there already must be ours and a real
// directory.
Status make_own_directory(const fs::path& directory) {
  if (mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) {
    return surroundings_error("cannot make directory {}: {}", directory.string(), strerror(errno));
  }
  struct stat found {};
  if (lstat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      found.st_uid != geteuid()) {
    return surroundings_error("{} belongs to somebody else; remove it", directory.string());
  }
  return {};
}

Status remove_tree(const fs::path& directory) {
  std::error_code error;
  fs::remove_all(directory, error);
  if (!error) return {};
  return surroundings_error("cannot remove {}: {}", directory.string(), error.message());
}

bool same_file(int fd, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return fstat(fd, &opened) == 0 && stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

}  // namespace

LabPlaces lab_places(std::string_view name) {
  return {labs_directory() / name, fmt::format("/tmp/ordeal-{}-{}", geteuid(), name)};
}

std::vector<std::string> known_labs() {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(labs_directory(), error)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

LabOwner lab_owner(std::string_view name) {
  const fs::path state = lab_places(name).state;
  if (!fs::exists(state)) return {};
  const std::string text = read_file(state / "owner");
  if (text.starts_with(kKept)) return {LabOwnership::kept};
  ProcessIdentity owner;
  std::istringstream(text) >> owner.pid >> owner.start_ticks;
  if (owner.pid > 0 && is_running(owner)) return {LabOwnership::in_use, owner.pid};
  return {LabOwnership::stale};
}

std::string lab_kind(std::string_view name) { return read_file(lab_places(name).state / "kind"); }

Result<LabLock> LabLock::take() {
  const fs::path directory = labs_directory();
  const auto deadline = std::chrono::steady_clock::now() + kLockTimeout;
  while (std::chrono::steady_clock::now() < deadline) {
    ORDEAL_TRY(make_own_directory(directory.parent_path()));
    ORDEAL_TRY(make_own_directory(directory));
    UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Whoever had the lock before may have removed the directory since it was opened.
    if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) == 0 && same_file(fd.get(), directory)) {
      LabLock lock;
      lock.fd_ = std::move(fd);
      return lock;
    }
    std::this_thread::sleep_for(milliseconds(5));
  }
  return surroundings_error("the lock on {} was not free for {} s; another ordeal hangs there",
                            directory.string(), kLockTimeout.count() / 1000);
}

Status claim_lab(const LabRequest& request) {
  const LabPlaces places = lab_places(request.name);
  const auto self = identity_of(getpid());
  if (!self) return surroundings_error("cannot read /proc/self/stat; is /proc mounted?");
  ORDEAL_TRY(make_own_directory(places.state));
  ORDEAL_TRY(
      write_file(places.state / "owner", fmt::format("{} {}\n", self->pid, self->start_ticks)));
  ORDEAL_TRY(write_file(places.state / "kind", request.kind));
  ORDEAL_TRY(make_own_directory(places.scratch));
  ORDEAL_TRY(remove_tree(places.scratch));
  return make_own_directory(places.scratch);
}

Status keep_lab(std::string_view name) {
  return write_file(lab_places(name).state / "owner", std::string(kKept) + "\n");
}

Status forget_lab(std::string_view name) {
  const LabPlaces places = lab_places(name);
  struct stat found {};
  if (lstat(places.scratch.c_str(), &found) == 0 && found.st_uid == geteuid()) {
    ORDEAL_TRY(remove_tree(places.scratch));
  }
  return remove_tree(places.state);
}

void remove_empty_labs_directory() {
  rmdir(labs_directory().c_str());
  rmdir(labs_directory().parent_path().c_str());
}

Status write_file(const fs::path& file, std::string_view text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) return surroundings_error("cannot write {}: {}", file.string(), strerror(errno));
  return {};
}

bool libfaketime_installed() {
  glob_t found{};
  const bool installed =
      glob("/usr/lib*/faketime/libfaketimeMT.so.1", 0, nullptr, &found) == 0 ||
      glob("/usr/lib/*/faketime/libfaketimeMT.so.1", GLOB_APPEND, nullptr, &found) == 0;
  globfree(&found);
  return installed;
}

bool may_trace() {
  HostSpec machine;
  machine.local = true;
  const auto seen =
      make_local_host(machine, {})->run({{"sh", "-c", std::string(kTracingProbe)}, {}, {}, {}});
  return seen && seen->exit_status == 0;
}

}  // namespace ordeal
