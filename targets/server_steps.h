// Steps of a run on one host that every target takes, and what is said where one fails.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/result.h"
#include "remote/host.h"

namespace ordeal {

inline constexpr std::chrono::milliseconds kInstallTimeout{60'000};
inline constexpr std::chrono::milliseconds kServerTimeout{30'000};

// A server as messages name it.
struct ServerWords {
  std::string_view system;  // "PostgreSQL"
  std::string user;         // that it runs as
  std::string user_from;    // the package that brings this user
  std::filesystem::path directory;
  std::filesystem::path log;
  std::string address;
};

// Runs the command; "n1: could not start PostgreSQL: ..." where it fails.
Status run_step(Host& host, std::string_view system, std::string_view step, const Command& command,
                std::stop_token stop);
// Whether prepare_command() and what followed succeeded; `missing` is the whole message where
// programs are missing.
Status check_prepared(const Host& host, const ServerWords& words, const CommandOutput& output,
                      const std::string& missing);
// The bad_input of what a server refuses among the settings of the campaign's target (exit status
// kSettingRefused): stdout is the setting's name, or nothing where it refuses them together, stderr
// what it says. `system` may have a version, as "PostgreSQL 15".
Status refused_setting(const Host& host, std::string_view system, std::string_view target,
                       const std::map<std::string, std::string>& settings,
                       const CommandOutput& output);
// Waits until `serves` succeeds; gives up, with the last lines of the server's log, when time is up
// or the server has no process any more.
Status await_served(Host& host, const ServerWords& words, std::chrono::milliseconds timeout,
                    const std::stop_token& stop, const std::function<Status()>& serves);
Status download_log(Host& host, const std::filesystem::path& log,
                    const std::filesystem::path& into);

}  // namespace ordeal
