// A process on a host that undoes a fault after a deadline, when nobody else did: the control node
// died, or the host cannot be reached. It is a detached shell that sleeps, then runs the undo
// commands; it survives the session that armed it, has no file, and is known by one argument,
// "ordeal-watchdog:ID". Needs sh, setsid and GNU grep on the host, and Linux's /proc.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "remote/command.h"

namespace ordeal {

// Returns once the watchdog sleeps. `id` is [a-z0-9-]+.
Command arm_watchdog(const std::string& id, std::chrono::milliseconds deadline,
                     const std::vector<Command>& undo);
// Ends the processes that bear the argument "KIND:ID" and waits for their end; exit status 1 when
// one does not end within 10 s. Succeeds where there is none.
Command end_marked(const std::string& kind, const std::string& id);
// Ends the watchdog, waiting for it when it is at work; exit status 1 when it does not end within
// 10 s. Succeeds where there is none.
Command disarm_watchdog(const std::string& id);

// Lets all watchdogs of the host undo now, whatever run armed them, waits for their end, ends what
// slows disks (disk_slow.cc), and removes rules of the packet filter, and queueing disciplines,
// that none of them knew. Prints a line for each. Exit status 1 where something is left after half
// a minute.
Command undo_now();

}  // namespace ordeal
