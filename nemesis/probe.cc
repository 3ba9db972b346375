#include "nemesis/probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <future>

#include "nemesis/control_node.h"
#include "nemesis/wait.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPause{100};

struct Asked {
  const std::string* host = nullptr;
  const Command* command = nullptr;
  bool as_wanted = false;
  std::string seen;
};

std::string line_of(const CommandOutput& output) {
  std::string line = boost::trim_copy(output.standard_output);
  if (line.empty()) line = boost::trim_copy(output.standard_error);
  boost::replace_all(line, "\n", ", ");
  return line;
}

// Of a command that must end by then; at least 1 ms, since no time would mean no limit.
milliseconds time_until(steady_clock::time_point cutoff) {
  if (cutoff - steady_clock::now() > kCommandTimeout) return kCommandTimeout;
  return std::max(std::chrono::duration_cast<milliseconds>(cutoff - steady_clock::now()),
                  milliseconds{1});
}

void ask(Asked& asked, const Cluster& cluster, const std::stop_token& stop,
         steady_clock::time_point cutoff) {
  Host* host = cluster.find(*asked.host);
  const auto control =
      host == nullptr && *asked.host == kControlNode ? make_control_node() : nullptr;
  if (control) host = control.get();
  if (host == nullptr) {
    asked.seen = "is not among the hosts given";
    return;
  }
  Command probe = *asked.command;
  probe.title = "the probe";
  const auto output = host->run(probe, time_until(cutoff), stop);
  asked.as_wanted = output && output->exit_status == 0;
  asked.seen = output ? line_of(*output) : output.error().message;
}

void ask_all(std::vector<Asked>& all, const Cluster& cluster, const std::stop_token& stop,
             steady_clock::time_point cutoff) {
  std::vector<std::future<void>> running;
  for (Asked& asked : all) {
    if (asked.as_wanted) continue;
    running.push_back(std::async(std::launch::async, [&] { ask(asked, cluster, stop, cutoff); }));
  }
  for (auto& each : running) each.get();
}

std::string told(const std::vector<Asked>& all, bool only_failures) {
  std::vector<std::string> parts;
  for (const Asked& asked : all) {
    if (only_failures && asked.as_wanted) continue;
    parts.push_back(fmt::format("{}: {}", *asked.host, asked.seen));
  }
  return boost::algorithm::join(parts, "; ");
}

}  // namespace

Result<std::string> probe(const std::vector<HostCommands>& probes, const Cluster& cluster,
                          milliseconds within, std::stop_token stop,
                          steady_clock::time_point cutoff) {
  const auto deadline = std::min(steady_clock::now() + within, cutoff);
  std::vector<Asked> all;
  for (const HostCommands& of_host : probes) {
    for (const Command& command : of_host.commands) {
      all.push_back({.host = &of_host.host, .command = &command, .seen = {}});
    }
  }
  while (true) {
    ask_all(all, cluster, stop, cutoff);
    const std::string failures = told(all, true);
    if (failures.empty()) return told(all, false);
    if (steady_clock::now() + kPause > deadline ||
        !sleep_until(steady_clock::now() + kPause, stop)) {
      return surroundings_error("{}", failures);
    }
  }
}

}  // namespace ordeal
