// A fault as a plan: which commands break things on which hosts, and which commands undo that.
// Planning is a pure function, tested without hosts; carrying it out (nemesis/engine.h) is the same
// for all faults, and so are the heal journal, the watchdogs on the hosts, and the record in the
// history.
//
// Contract of a plan: every undo command is idempotent, and undoes the fault also when injection
// stopped halfway, when it never began, and when the fault has already been undone. Adding a fault
// is one file, one test, and one line of catalog.cc.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "base/result.h"
#include "remote/host.h"
#include "targets/target.h"

namespace ordeal {

struct HostCommands {
  std::string host;
  std::vector<Command> commands;
  friend bool operator==(const HostCommands&, const HostCommands&) = default;
};

struct FaultPlan {
  std::string detail;  // for people: "n1 drops what control sends to port 5432"
  std::vector<HostCommands> inject;
  std::vector<HostCommands> undo;
};

// One drawn fault. Which values `parameters` has is the fault's own affair, e.g. {"offset",
// "-37.5"}.
struct Fault {
  std::string name;
  std::vector<std::string> hosts;
  std::map<std::string, std::string> parameters;
  friend bool operator==(const Fault&, const Fault&) = default;
};

// What planning may look at.
struct Battlefield {
  std::string control_address;  // of the clients
  std::vector<const Host*> hosts;
  std::function<ServerControl(const Host&)> server;
  std::string run_id;  // names what is left on hosts, so that two runs don't collide: [a-z0-9-]+
};

enum class FaultNeed { nothing, root, packet_filter, faketime };

struct FaultEntry {
  std::string_view name;
  std::string_view summary;
  FaultNeed need;
  std::span<const OptionSpec> options;
  // Draws hosts and parameters; a pure function of its arguments.
  Fault (*draw)(const Options& options, const std::vector<std::string>& hosts, Random& random);
  Result<FaultPlan> (*plan)(const Fault& fault, const Battlefield& battlefield);
};

std::span<const FaultEntry> fault_catalog();

}  // namespace ordeal
