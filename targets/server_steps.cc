#include "targets/server_steps.h"

#include <fmt/ranges.h>

#include <boost/algorithm/string/trim.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "base/options.h"
#include "targets/server_scripts.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kReadyPause{50};
constexpr int kLogLines = 5;

std::string log_tail(Host& host, const ServerWords& words) {
  const auto output = host.run(log_tail_command(words.log, kLogLines));
  if (!output) return output.error().message;
  return fmt::format("\n{}", boost::trim_right_copy(output->standard_output));
}

bool is_running(Host& host, const ServerWords& words) {
  const auto output = host.run(is_running_command(words.directory), kServerTimeout);
  return !output || output->exit_status == 0;  // unreachable is not ended
}

}  // namespace

Status run_step(Host& host, std::string_view system, std::string_view step, const Command& command,
                std::stop_token stop) {
  ORDEAL_TRY_ASSIGN(const auto output, host.run(command, kServerTimeout, std::move(stop)));
  if (output.exit_status == 0) return {};
  return surroundings_error("{}: could not {} {}: {}", host.name(), step, system,
                            boost::trim_copy(output.standard_error));
}

Status check_prepared(const Host& host, const ServerWords& words, const CommandOutput& output,
                      const std::string& missing) {
  switch (output.exit_status) {
    case 0:
      return {};
    case kProgramsMissing:
      return surroundings_error("{}", missing);
    case kPortTaken:
      return surroundings_error(
          "{}: port {} of {} is in use by another program; stop that, or set the target's port",
          host.name(), boost::trim_copy(output.standard_output), words.address);
    case kUserMissing:
      return surroundings_error(
          "{}: there is no user {}, and {} must not run as root; install the package {}, or log in "
          "as another user",
          host.name(), words.user, words.system, words.user_from);
    case kDataExists:
      return surroundings_error(
          "{}: {} holds a database already, or other files, and not from Ordeal; remove it first",
          host.name(), (words.directory / "data").string());
    default:
      return surroundings_error("{}: could not create the data of a {} server in {}: {}",
                                host.name(), words.system, (words.directory / "data").string(),
                                boost::trim_copy(output.standard_error));
  }
}

Status refused_setting(const Host& host, std::string_view system, std::string_view target,
                       const std::map<std::string, std::string>& settings,
                       const CommandOutput& output) {
  const std::string name = boost::trim_copy(output.standard_output);
  const std::string message = boost::trim_copy(output.standard_error);
  if (!name.empty()) {
    return bad_input(
        "{}: {} refuses {} = '{}': {}; correct or remove target.{}.settings.{} in the campaign",
        host.name(), system, name, settings.at(name), message, target, name);
  }
  std::vector<std::string> names;
  for (const auto& [each, value] : settings) {
    names.push_back(fmt::format("target.{}.settings.{}", target, each));
  }
  return bad_input("{}: {} refuses the campaign's settings together: {}; correct one of {}",
                   host.name(), system, message, fmt::join(names, ", "));
}

Status await_served(Host& host, const ServerWords& words, milliseconds timeout,
                    const std::stop_token& stop, const std::function<Status()>& serves) {
  const auto deadline = steady_clock::now() + timeout;
  std::string last;
  while (steady_clock::now() < deadline) {
    if (stop.stop_requested()) return stopped();
    const Status served = serves();
    if (served) return {};
    last = served.error().message;
    if (!is_running(host, words)) {
      return surroundings_error("{}: {} ended while it started: {}", host.name(), words.system,
                                log_tail(host, words));
    }
    std::this_thread::sleep_for(kReadyPause);
  }
  return surroundings_error("{} was not ready after {}: {}; last lines of its log: {}", host.name(),
                            format_duration(timeout), last, log_tail(host, words));
}

Status download_log(Host& host, const std::filesystem::path& log,
                    const std::filesystem::path& into) {
  std::error_code failure;
  std::filesystem::create_directories(into, failure);
  if (failure) return surroundings_error("{}: {}", into.string(), failure.message());
  return host.download(log, into / log.filename());
}

}  // namespace ordeal
