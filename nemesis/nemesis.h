// A fault as a plan: which commands break things on which hosts, how to see that they did, which
// commands undo that, and how to see that nothing is left. Planning is a pure function, tested
// without hosts; carrying it out (nemesis/engine.h) is the same for all faults, and so are the heal
// journal, the watchdogs on the hosts, and the record in the history.
//
// Contract of a plan: every undo command is idempotent, and undoes the fault also when injection
// stopped halfway, when it never began, and when the fault has already been undone. Adding a fault
// is one file, one test, and one line of catalog.cc.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <set>
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

namespace proxy {
class Proxy;
}

// `host` may be kControlNode: the commands then run in this process' surroundings. In an injection
// and an undo they are for what a host cannot do to itself (power), and run before those of hosts.
struct HostCommands {
  std::string host;
  std::vector<Command> commands;
  friend bool operator==(const HostCommands&, const HostCommands&) = default;
};

// What a fault does within the run's own process, and what therefore ends with it.
struct InProcess {
  std::function<Status()> inject;
  std::function<Status()> undo;  // idempotent
  // As FaultPlan::effect: what was seen, or that nothing was, yet. Waits for nothing after the
  // deadline; where that is over, it tells what was counted so far.
  std::function<Result<std::string>(std::chrono::steady_clock::time_point deadline)> effect;
  std::string direction{};  // of a leg, where it strikes one alone: upstream or downstream
};

struct FaultPlan {
  std::string detail;  // for people: "n1 drops what control sends to port 5432"
  std::vector<HostCommands> inject;
  std::vector<HostCommands> undo;
  // How much longer than others the injection may take, as where a gibibyte is written.
  std::chrono::milliseconds inject_longer{0};
  // Probes. Each exits with 0 where things are as wanted, and prints one line that says what was
  // seen: "2 of 2 connections got no answer". `effect` is asked after injection, and again for a
  // while; a fault without effect is undone, and does not count. `healed` is asked after the undo.
  std::vector<HostCommands> effect{};
  std::chrono::milliseconds effect_within{6'000};  // how long it may take to be seen
  std::vector<HostCommands> healed{};
  // Asked before the run, when there are no servers yet: exits with 0 where the host can do this,
  // else prints why it cannot, and what to do.
  std::vector<HostCommands> possible{};
  std::vector<InProcess> in_process{};
};

// One drawn fault. Which values `parameters` has is the fault's own affair, e.g. {"offset",
// "-37.5"}; "direction", where there is one, is upstream (to the server), downstream or both.
struct Fault {
  std::string name;
  std::vector<std::string> hosts;  // where it strikes; empty where it strikes legs alone
  std::vector<std::string> legs{};
  std::map<std::string, std::string> parameters{};
  friend bool operator==(const Fault&, const Fault&) = default;
};

// What can be struck: the system's servers and its connections.
struct Terrain {
  struct Server {
    std::string host;
    std::string role;
  };
  std::vector<Server> servers;
  std::vector<Leg> legs{};
};

// What planning may look at.
struct Battlefield {
  std::string control_address;  // of the clients
  std::vector<const Host*> hosts;
  std::function<ServerControl(const Host&)> server;
  std::string run_id;  // names what is left on hosts, so that two runs don't collide: [a-z0-9-]+
  Terrain terrain{};
  proxy::Proxy* proxy = nullptr;  // nullptr where no leg goes through it
};

enum class FaultNeed {
  nothing,
  root,
  packet_filter,
  faketime,
  own_clock,
  netem,
  tbf,
  own_disk,
  tracing,
  power,
  proxy
};

// What the fault draws its place from: it decides what a first sweep has to touch.
enum class Strikes { servers, legs };

// How long a fault takes on an idle machine, with its default settings: from the beginning of the
// injection until its effect was seen, and from the end of its time until it was seen to be gone.
// Schedules leave room for it.
struct TypicalTimes {
  std::chrono::milliseconds to_see{300};
  std::chrono::milliseconds to_heal{400};
};

struct FaultEntry {
  std::string_view name;
  std::string_view summary;
  FaultNeed need;
  std::span<const OptionSpec> options;
  // Draws hosts or legs, and parameters; a pure function of its arguments. No hosts and no legs
  // where the terrain has none for it.
  Fault (*draw)(const Options& options, const Terrain& terrain, Random& random);
  Result<FaultPlan> (*plan)(const Fault& fault, const Battlefield& battlefield);
  Strikes strikes = Strikes::servers;
  bool dangerous = false;  // destroys data for good: has kDangerousOption, which must be true
  TypicalTimes typical{};
  // Where a written step has replaced some of what was drawn, `written` by name ("hosts" are the
  // hosts): checks it, and makes the rest agree. nullptr: there is nothing to do.
  Status (*settle)(Fault& fault, const std::set<std::string>& written) = nullptr;
};

std::span<const FaultEntry> fault_catalog();
const FaultEntry* find_fault(std::string_view name);  // nullptr where the catalogue has none

}  // namespace ordeal
