#include "nemesis/undo.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "nemesis/control_node.h"
#include "nemesis/plan.h"
#include "nemesis/probe.h"
#include "nemesis/watchdog.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;

// Disarming waits for a watchdog at work, which takes it up to 10 s.
constexpr milliseconds kDisarmTimeout{20'000};
// A machine that is switched on boots.
constexpr milliseconds kControlNodeTimeout{150'000};
constexpr milliseconds kReconnectTimeout{30'000};

Status all_hosts_known(const PendingUndo& undo, const Cluster& cluster) {
  for (const HostCommands& of_host : undo.undo) {
    if (of_host.host == kControlNode) continue;
    if (cluster.find(of_host.host) == nullptr) {
      return bad_input("fault {} is to be undone on host {}, which is not among the hosts given",
                       undo.fault, of_host.host);
    }
  }
  return {};
}

bool strikes_control_node(const PendingUndo& undo) {
  return std::any_of(undo.undo.begin(), undo.undo.end(),
                     [](const HostCommands& each) { return each.host == kControlNode; });
}

// Where the control node did something, the host may have booted since, and old connections lead
// nowhere.
Status undo_on_host(Host& host, const PendingUndo& undo, milliseconds timeout,
                    std::stop_token stop) {
  const std::vector<Command>* commands = commands_for(host, undo.undo);
  if (commands == nullptr) return {};
  if (host.name() == kControlNode) {
    timeout = kControlNodeTimeout;
  } else if (strikes_control_node(undo)) {
    ORDEAL_TRY(host.preflight(kReconnectTimeout));
  }
  Command undoing = each_of(as_login_user(*commands, host));
  undoing.title = "undoing " + undo.fault;
  ORDEAL_TRY(run_checked(host, undoing, timeout, stop));
  return {};
}

// What is left to do once nobody will have to undo it again.
Status disarm_on_hosts(const PendingUndo& undo, const Cluster& cluster, std::stop_token stop) {
  return control_node_first(cluster, [&](Host& host) -> Status {
    if (commands_for(host, undo.undo) == nullptr) return {};
    Command disarming = disarm_watchdog(watchdog_id(undo.id, host));
    disarming.title = "disarming the watchdog of " + undo.fault;
    ORDEAL_TRY(run_checked(host, disarming, kDisarmTimeout, stop));
    return {};
  });
}

tl::unexpected<Error> not_gone(const PendingUndo& undo, const Error& unseen) {
  return surroundings_error("fault {} was undone, but not healed: {}", undo.fault, unseen.message);
}

// ---- replay

// Hosts without power are reached once they have it. That it does not come back is told by the undo
// itself.
void switch_on(const std::vector<PendingUndo>& undos, const Cluster& cluster,
               const std::stop_token& stop) {
  for (const PendingUndo& undo : undos) {
    (void)on_control_node(
        cluster, [&](Host& host) { return undo_on_host(host, undo, kControlNodeTimeout, stop); });
  }
}

using Unreachable = std::map<std::string, std::string>;  // host -> why

// Of the hosts that undos are for.
Unreachable find_unreachable(const std::vector<PendingUndo>& undos, const Cluster& cluster) {
  std::mutex mutex;
  Unreachable unreachable;
  (void)cluster.for_each([&](Host& host) -> Status {
    const bool asked = std::any_of(undos.begin(), undos.end(), [&](const PendingUndo& undo) {
      return commands_for(host, undo.undo) != nullptr;
    });
    const Status reached = asked ? host.preflight(kCommandTimeout) : Status();
    const std::lock_guard lock(mutex);
    if (!reached) unreachable[host.name()] = reached.error().message;
    return {};
  });
  return unreachable;
}

// What of it can be done.
PendingUndo without(PendingUndo undo, const Unreachable& unreachable) {
  for (auto* commands : {&undo.undo, &undo.healed}) {
    std::erase_if(*commands,
                  [&](const HostCommands& each) { return unreachable.count(each.host) != 0; });
  }
  return undo;
}

class Replay {
 public:
  Replay(const Cluster& cluster, HealJournal& journal, std::vector<PendingUndo> undos,
         milliseconds within, std::stop_token stop)
      : cluster_(cluster),
        journal_(journal),
        undos_(std::move(undos)),
        unreachable_(find_unreachable(undos_, cluster)),
        within_(within),
        stop_(std::move(stop)) {}

  std::vector<Replayed> run() && {
    std::vector<Replayed> replayed;
    std::vector<std::size_t> hidden;
    for (std::size_t i = 0; i < undos_.size(); ++i) {
      const bool is_last = i + 1 == undos_.size();
      const auto undone = heal(undos_[i], [&] { return !is_last; });
      if (undone && undone->hidden) hidden.push_back(i);
      replayed.push_back({undos_[i], undone.map([](const Undone&) {}), unreachable_of(undos_[i])});
    }
    for (const std::size_t i : hidden) {
      replayed[i].outcome = see_gone(without(undos_[i], unreachable_), cluster_, within_, stop_)
                                .map([](const std::string&) {});
    }
    for (Replayed& each : replayed) conclude(each);
    return replayed;
  }

 private:
  Result<Undone> heal(const PendingUndo& undo, const std::function<bool()>& there_are_others) {
    const PendingUndo possible = without(undo, unreachable_);
    ORDEAL_TRY(undo_on_hosts(possible, cluster_, kCommandTimeout, stop_));
    return conclude_undo(possible, cluster_, within_, there_are_others, stop_);
  }

  Unreachable unreachable_of(const PendingUndo& undo) const {
    Unreachable of_undo;
    for (const HostCommands& of_host : undo.undo) {
      const auto found = unreachable_.find(of_host.host);
      if (found != unreachable_.end()) of_undo.insert(*found);
    }
    return of_undo;
  }

  void conclude(Replayed& replayed) {
    if (replayed.outcome && !replayed.unreachable.empty()) {
      const auto& [host, why] = *replayed.unreachable.begin();
      replayed.outcome =
          surroundings_error("fault {} may still be there on host {}, which cannot be reached: {}",
                             replayed.undo.fault, host, why);
    }
    if (replayed.outcome) replayed.outcome = journal_.healed(replayed.undo.id);
  }

  const Cluster& cluster_;
  HealJournal& journal_;
  const std::vector<PendingUndo> undos_;
  const Unreachable unreachable_;
  const milliseconds within_;
  const std::stop_token stop_;
};

}  // namespace

std::string watchdog_id(const std::string& undo, const Host& host) {
  return undo + "-" + host.name();
}

std::vector<Command> as_login_user(std::vector<Command> commands, const Host& host) {
  for (Command& command : commands) {
    if (command.user == host.spec().user) command.user.clear();
  }
  return commands;
}

const std::vector<Command>* commands_for(const Host& host,
                                         const std::vector<HostCommands>& commands) {
  for (const HostCommands& of_host : commands) {
    if (of_host.host == host.name()) return &of_host.commands;
  }
  return nullptr;
}

Status undo_on_hosts(const PendingUndo& undo, const Cluster& cluster, milliseconds command_timeout,
                     std::stop_token stop) {
  ORDEAL_TRY(all_hosts_known(undo, cluster));
  return control_node_first(
      cluster, [&](Host& host) { return undo_on_host(host, undo, command_timeout, stop); });
}

Result<Undone> conclude_undo(const PendingUndo& undo, const Cluster& cluster, milliseconds within,
                             const std::function<bool()>& there_are_others, std::stop_token stop) {
  Undone undone;
  if (auto seen = probe(undo.healed, cluster, within, stop)) {
    undone.seen = std::move(*seen);
  } else if (there_are_others()) {
    undone = {"undone, but hidden by another fault: " + seen.error().message, true};
  } else {
    return not_gone(undo, seen.error());
  }
  ORDEAL_TRY(disarm_on_hosts(undo, cluster, stop));
  return undone;
}

Result<std::string> see_gone(const PendingUndo& undo, const Cluster& cluster, milliseconds within,
                             std::stop_token stop) {
  auto seen = probe(undo.healed, cluster, within, stop);
  if (seen) return seen;
  return not_gone(undo, seen.error());
}

Result<std::vector<Replayed>> replay(const std::filesystem::path& path, const Cluster& cluster,
                                     std::stop_token stop, milliseconds within) {
  ORDEAL_TRY_ASSIGN(JournalRecord record, read_journal(path));
  std::vector<PendingUndo> undos = std::move(record.pending);
  if (undos.empty()) return std::vector<Replayed>{};
  ORDEAL_TRY_ASSIGN(const std::unique_ptr<HealJournal> journal, HealJournal::open(path));
  std::reverse(undos.begin(), undos.end());
  switch_on(undos, cluster, stop);
  return Replay(cluster, *journal, std::move(undos), within, std::move(stop)).run();
}

}  // namespace ordeal
