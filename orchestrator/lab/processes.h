// Finding and ending the processes of a lab, whoever their parent is. Linux: reads /proc.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"

namespace ordeal {

// "" where it cannot be read. Any file; one in /proc stops being readable when its process ends,
// even while it is read.
std::string read_file(const std::filesystem::path& file);

// A process id that is not confused with a later process of the same number.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // proc(5), stat, field 22
};

// Of a process that runs; nullopt where there is none or it is a zombie.
std::optional<ProcessIdentity> identity_of(pid_t pid);
bool is_running(const ProcessIdentity& process);

// `entry` is "NAME=value"; of the environment that the process was started with.
bool started_with(pid_t pid, const std::string& entry);
// Whether the process was started without a terminal and works in `directory` or below.
bool serves_in(pid_t pid, const std::string& directory);
// Inode of its network namespace; 0 where it cannot be seen.
ino_t network_namespace_of(pid_t pid);

// Kills the processes that `belongs` holds for until there are none, except this one and its
// ancestors.
Status kill_all(const std::function<bool(pid_t)>& belongs, std::chrono::milliseconds timeout);

}  // namespace ordeal
