// What the tests of labs share: names that no other test uses, work inside the control namespace,
// and the search for what a lab left behind.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "orchestrator/lab/lab.h"

namespace ordeal {

inline std::string unique_lab(const std::string& suffix) {
  return fmt::format("t{}{}", getpid(), suffix);
}

inline bool root_or_skip() {
  if (geteuid() == 0) return true;
  WARN("skipped: needs root");
  return false;
}

// Taken down at the end of the test, whatever happens.
struct TestLab {
  explicit TestLab(LabRequest wanted) : request(std::move(wanted)) {
    auto up = lab_up(request);
    INFO((up ? std::string() : up.error().message));
    REQUIRE(up);
    lab = *std::move(up);
  }
  ~TestLab() { static_cast<void>(lab_down(request.name)); }
  LabRequest request;
  Lab lab;
};

// A namespace belongs to a thread, so the rest of the program stays where it is.
inline void in_control_namespace(const Lab& lab, const std::function<void()>& work) {
  std::exception_ptr failure;
  std::jthread([&] {
    try {
      REQUIRE(enter_control_namespace(lab));
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

inline std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline void find_entries(const std::filesystem::path& directory, const std::string& part,
                         std::vector<std::string>& into) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().filename().string().find(part) != std::string::npos)
      into.push_back(entry.path());
  }
}

// Files, mounts and processes that mention the lab. Independent of how the product finds them.
inline std::vector<std::string> leftovers(const std::string& lab) {
  std::vector<std::string> left;
  for (const char* directory : {"/run/netns", "/etc/netns", "/run/ordeal/labs", "/tmp"}) {
    find_entries(directory, lab, left);
  }
  find_entries("/tmp/ordeal-" + std::to_string(geteuid()) + "/labs", lab, left);
  if (contents_of("/proc/self/mountinfo").find(lab) != std::string::npos) left.push_back("a mount");
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (name == std::to_string(getpid())) continue;
    const std::string words =
        contents_of(entry.path() / "cmdline") + contents_of(entry.path() / "environ");
    if (words.find(lab) != std::string::npos) left.push_back("process " + name);
  }
  return left;
}

// Runs `work` in a process that is killed after `after`, or once it returned.
inline void in_killed_process(std::chrono::milliseconds after, const std::function<void()>& work) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    work();
    while (true) pause();
  }
  std::this_thread::sleep_for(after);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace ordeal
