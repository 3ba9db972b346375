// Undoing a fault on its hosts, and seeing that it is gone: the same for the engine, whose run is
// alive, and for replay(), when it is not.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "nemesis/journal.h"
#include "remote/host.h"

namespace ordeal {

// How long effect and undo may take to be seen.
inline constexpr std::chrono::milliseconds kProbeTimeout{6'000};

// Of an undo on a host; hosts of a lab of processes share one machine, so the host is part of it.
std::string watchdog_id(const std::string& undo, const Host& host);
// A watchdog, and what undoes in its place, runs as the login user: becoming the user that it
// already is would need root.
std::vector<Command> as_login_user(std::vector<Command> commands, const Host& host);
// nullptr where there are none for the host.
const std::vector<Command>* commands_for(const Host& host,
                                         const std::vector<HostCommands>& commands);

// On all its hosts at once.
Status undo_on_hosts(const PendingUndo& undo, const Cluster& cluster,
                     std::chrono::milliseconds command_timeout, std::stop_token stop);

struct Undone {
  std::string seen;  // of the way back
  bool hidden = false;
};
// After undo_on_hosts(): sees that the fault is gone, and disarms the watchdogs. Where that cannot
// be seen while there are other faults, which may be the reason, the fault is hidden: whether it is
// gone is to be asked again, by see_gone(), once they are healed.
Result<Undone> conclude_undo(const PendingUndo& undo, const Cluster& cluster,
                             std::chrono::milliseconds within,
                             const std::function<bool()>& there_are_others, std::stop_token stop);
Result<std::string> see_gone(const PendingUndo& undo, const Cluster& cluster,
                             std::chrono::milliseconds within, std::stop_token stop);

struct Replayed {
  PendingUndo undo;
  Status outcome;  // an Error names the host
  // Hosts on which it may still be there, since they cannot be reached, and why not.
  std::map<std::string, std::string> unreachable{};
};

// Undoes what the journal has pending, newest first, sees that it worked, disarms the watchdogs,
// and marks what succeeded as healed. Goes on after failures, and without hosts that cannot be
// reached. Safe to repeat. bad_input as of check_unused().
Result<std::vector<Replayed>> replay(const std::filesystem::path& journal, const Cluster& cluster,
                                     std::stop_token stop = {},
                                     std::chrono::milliseconds within = kProbeTimeout);

}  // namespace ordeal
