// Processes of this machine: started with no file descriptor but the standard streams, no signal
// blocked or ignored. All functions are thread-safe.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "remote/command.h"

namespace ordeal {

struct ProcessRequest {
  std::vector<std::string> arguments;  // [0] is looked up in PATH
  std::string standard_input = {};
  std::map<std::string, std::string> environment = {};  // added to that of this process
  // Of run_process: is given standard output as it comes, in pieces of any length.
  std::function<void(std::string_view)> on_output = {};
};

// As the shell finds it, or in a directory of programs for root.
bool program_exists(const std::string& name);

// Runs to the end and returns what it wrote; 128 + N where signal N ended it. The process leads a
// group of its own; on time-out or stop the group is killed. Returns once the process itself ended,
// also when a descendant still holds its streams.
Result<CommandOutput> run_process(const ProcessRequest& request, std::chrono::milliseconds timeout,
                                  std::stop_token stop = {});

// As run_process, but an exit status other than 0 is an Error with the process' own words.
Status run_process_checked(const ProcessRequest& request, std::chrono::milliseconds timeout,
                           std::stop_token stop = {});

// Runs with the standard streams of this process, in its group; returns the exit status.
Result<int> run_in_foreground(const ProcessRequest& request);

// Runs with the standard streams of this process but its output, which goes to the file `output`,
// in a group of its own; returns the exit status. A requested stop sends SIGTERM once, and waits
// for the end all the same.
Result<int> run_to_file(const ProcessRequest& request, const std::filesystem::path& output,
                        std::stop_token stop);

// Starts a process in a group of its own with these standard streams, which stay the caller's.
// `standard_input` is ignored. It is to be ended by end_process().
Result<pid_t> start_process(const ProcessRequest& request, const std::array<int, 3>& streams);
// Kills the group that the process leads, and collects the process; also where it ended already.
void end_process(pid_t pid);

// Starts a process in a session of its own, with both output streams going to the file `log`. It
// stays a child of this process. `standard_input` is ignored.
Result<pid_t> start_daemon(const ProcessRequest& request, const std::filesystem::path& log);

}  // namespace ordeal
