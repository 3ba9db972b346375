#include "orchestrator/lab/processes.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

struct Stat {
  char state = 'Z';
  pid_t parent = 0;
  int terminal = 0;
  std::uint64_t start_ticks = 0;
};

std::string proc_path(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

// The name in parentheses may itself contain spaces and parentheses, so fields count from the last
// one.
std::optional<Stat> stat_of(pid_t pid) {
  const std::string text = read_file(proc_path(pid, "stat"));
  const std::size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(end_of_name + 1));
  Stat stat;
  std::string skipped;
  fields >> stat.state >> stat.parent >> skipped >> skipped >> stat.terminal;
  for (int field = 8; field < 22; ++field) fields >> skipped;
  fields >> stat.start_ticks;
  return stat;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (failed == std::errc() && end == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

std::set<pid_t> self_and_ancestors() {
  std::set<pid_t> result;
  for (pid_t pid = getpid(); pid > 0;) {
    if (!result.insert(pid).second) break;
    const auto stat = stat_of(pid);
    pid = stat ? stat->parent : 0;
  }
  return result;
}

std::vector<ProcessIdentity> running_where(const std::function<bool(pid_t)>& belongs,
                                           const std::set<pid_t>& spared) {
  std::vector<ProcessIdentity> found;
  for (const pid_t pid : all_processes()) {
    if (spared.contains(pid)) continue;
    const auto identity = identity_of(pid);
    if (identity && belongs(pid)) found.push_back(*identity);
  }
  return found;
}

// A child of this process stays a zombie until it is waited for; for others this does nothing.
bool has_ended(const ProcessIdentity& process) {
  waitpid(process.pid, nullptr, WNOHANG);
  return !is_running(process);
}

}  // namespace

// By operator<<, which keeps what the stream buffer throws to itself.
std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  return text.str();
}

std::optional<ProcessIdentity> identity_of(pid_t pid) {
  const auto stat = stat_of(pid);
  if (!stat || stat->state == 'Z' || stat->state == 'X') return std::nullopt;
  return ProcessIdentity{pid, stat->start_ticks};
}

bool is_running(const ProcessIdentity& process) {
  const auto now = identity_of(process.pid);
  return now && now->start_ticks == process.start_ticks;
}

bool started_with(pid_t pid, const std::string& entry) {
  const std::string environment = '\0' + read_file(proc_path(pid, "environ"));
  return environment.find('\0' + entry + '\0') != std::string::npos;
}

bool serves_in(pid_t pid, const std::string& directory) {
  const auto stat = stat_of(pid);
  if (!stat || stat->terminal != 0) return false;
  std::error_code error;
  const std::string where = fs::read_symlink(proc_path(pid, "cwd"), error).string() + "/";
  return !error && where.starts_with(directory + "/");
}

ino_t network_namespace_of(pid_t pid) {
  struct stat file {};
  return stat(proc_path(pid, "ns/net").c_str(), &file) == 0 ? file.st_ino : 0;
}

Status kill_all(const std::function<bool(pid_t)>& belongs, milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  const std::set<pid_t> spared = self_and_ancestors();
  while (true) {
    std::vector<ProcessIdentity> left = running_where(belongs, spared);
    if (left.empty()) return {};
    for (const auto& process : left) kill(process.pid, SIGKILL);
    while (!left.empty()) {
      std::erase_if(left, has_ended);
      if (left.empty()) break;
      if (std::chrono::steady_clock::now() > deadline) {
        return surroundings_error("process {} of the lab did not end {} ms after SIGKILL",
                                  left.front().pid, timeout.count());
      }
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
}

}  // namespace ordeal
