#include "nemesis/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <optional>
#include <utility>

#include "nemesis/control_node.h"
#include "nemesis/plan.h"
#include "nemesis/probe.h"
#include "nemesis/scope.h"
#include "nemesis/wait.h"
#include "nemesis/watchdog.h"

namespace ordeal {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string both_of(const std::string& first, const std::string& second) {
  return first + (first.empty() || second.empty() ? "" : "; ") + second;
}

// What it did in all, also what was not seen yet when it was injected.
Seen seen_while_active(const std::vector<InProcess>& steps) {
  if (steps.empty()) return {};
  auto looked = look(steps, steady_clock::now());
  Seen seen = looked ? std::move(*looked) : Seen{looked.error().message};
  seen.text = "while it lasted: " + seen.text;
  return seen;
}

void tell(const Seen& seen, FaultEvent& event) {
  event.effect = seen.text;
  if (event.direction == "both") event.seen_direction = seen.direction;
}

}  // namespace

std::string fault_place(const FaultEvent& event) {
  return boost::algorithm::join(event.legs.empty() ? event.hosts : event.legs, ", ");
}

std::string fault_function(const FaultEvent& event) {
  return (event.action == FaultAction::inject ? "start-" : "stop-") + event.fault;
}

FaultEngine::FaultEngine(const Cluster& cluster, Battlefield battlefield, HealJournal& journal,
                         Record record, EngineSettings settings)
    : cluster_(cluster),
      battlefield_(std::move(battlefield)),
      journal_(journal),
      record_(std::move(record)),
      settings_(settings) {}

Result<FaultId> FaultEngine::inject(const Fault& fault, milliseconds duration, std::stop_token stop,
                                    milliseconds within) {
  if (stop.stop_requested()) return stopped();
  const bool capped = within < milliseconds::max();
  const auto cutoff = capped ? steady_clock::now() + within : steady_clock::time_point::max();
  const auto planned = plan_fault(fault, battlefield_);
  if (!planned) return tl::unexpected(refuse(fault, planned.error()));
  const FaultPlan& plan = *planned;
  const Injected injected = begin(fault, plan, duration);
  FaultEvent event = injected.active.event;
  record_(Phase::invoke, event, "");
  const Status carried_out = carry_out(plan, injected, duration, stop);
  const auto seen = carried_out ? see_effect(plan, cutoff, stop)
                                : Result<Seen>(tl::unexpected(carried_out.error()));
  if (seen) {
    tell(*seen, event);
    count(fault.name, &FaultCounts::injected);
    record_(Phase::info, event, "");
    return injected.active.id;
  }
  count(fault.name, &FaultCounts::failed);
  // Whatever stopped the injection, the undo must run.
  const auto undone = undo(injected, {});
  record_(Phase::info, event,
          fmt::format("failed: {}; {}", seen.error().message,
                      undone ? "undone" : "undo failed: " + undone.error().message));
  return tl::unexpected(seen.error());
}

// Nothing was done, which the record tells all the same.
Error FaultEngine::refuse(const Fault& fault, const Error& error) {
  const FaultEvent event = event_of(fault, {});
  count(fault.name, &FaultCounts::failed);
  record_(Phase::invoke, event, "");
  record_(Phase::info, event, "failed: " + error.message);
  return error;
}

FaultEvent FaultEngine::event_of(const Fault& fault, const FaultPlan& plan) const {
  FaultEvent event{.fault = fault.name,
                   .action = FaultAction::inject,
                   .hosts = fault.hosts,
                   .detail = plan.detail,
                   .legs = fault.legs};
  if (event.hosts.empty()) {
    for (const HostCommands& of_host : plan.inject) event.hosts.push_back(of_host.host);
  }
  if (const auto found = fault.parameters.find("direction"); found != fault.parameters.end()) {
    event.direction = found->second;
  }
  if (event.legs.empty()) {
    event.share = share_of(event.hosts.size(), battlefield_.terrain.servers.size());
  }
  return event;
}

// From here on the fault is active, also where it turns out to have been injected by half.
FaultEngine::Injected FaultEngine::begin(const Fault& fault, FaultPlan plan,
                                         milliseconds duration) {
  const std::lock_guard lock(state_);
  const FaultId id{++last_id_};
  injected_.push_back(
      {.active = {.id = id,
                  .event = event_of(fault, plan),
                  .since = std::chrono::steady_clock::now()},
       .undo = {.id = fmt::format("{}-{}", battlefield_.run_id, id.value),
                .fault = fault.name,
                .detail = std::move(plan.detail),
                .undo = std::move(plan.undo),
                .healed = std::move(plan.healed),
                .watchdog_at = std::chrono::ceil<std::chrono::seconds>(
                    std::chrono::system_clock::now() + duration + settings_.watchdog_grace)},
       .in_process = std::move(plan.in_process)});
  return injected_.back();
}

Result<Seen> FaultEngine::see_effect(const FaultPlan& plan, steady_clock::time_point cutoff,
                                     std::stop_token stop) const {
  const milliseconds within = std::min(plan.effect_within, settings_.probe_timeout);
  const auto probed = probe(plan.effect, cluster_, within, stop, cutoff);
  auto seen =
      probed ? await_effect(plan.in_process, std::min(steady_clock::now() + within, cutoff), stop)
             : Result<Seen>(tl::unexpected(probed.error()));
  if (!seen) return surroundings_error("it has no effect: {}", seen.error().message);
  seen->text = both_of(*probed, seen->text);
  return seen;
}

Status FaultEngine::carry_out(const FaultPlan& plan, const Injected& injected,
                              milliseconds duration, std::stop_token stop) {
  const std::lock_guard acting(acting_);
  ORDEAL_TRY(journal_.began(injected.undo));
  ORDEAL_TRY(control_node_first(cluster_, [&](Host& host) {
    return arm_and_inject(host, plan, injected.undo, duration, stop);
  }));
  for (const InProcess& step : plan.in_process) ORDEAL_TRY(step.inject());
  return {};
}

Status FaultEngine::arm_and_inject(Host& host, const FaultPlan& plan, const PendingUndo& undo,
                                   milliseconds duration, std::stop_token stop) {
  const std::vector<Command>* undo_commands = commands_for(host, undo.undo);
  const std::vector<Command>* commands = commands_for(host, plan.inject);
  if (commands == nullptr || undo_commands == nullptr) return {};
  std::vector<Command> steps = as_login_user(*commands, host);
  steps.insert(steps.begin(),
               arm_watchdog(watchdog_id(undo.id, host), duration + settings_.watchdog_grace,
                            as_login_user(*undo_commands, host)));
  // One command, since each takes a turn over the network.
  Command injection = all_of(steps);
  injection.title = "injecting " + undo.fault;
  ORDEAL_TRY(run_checked(host, injection, settings_.command_timeout + plan.inject_longer, stop));
  return {};
}

Status FaultEngine::heal(FaultId id, std::stop_token stop) {
  const std::optional<Injected> injected = find(id);
  if (!injected) return {};
  FaultEvent event = injected->active.event;
  event.action = FaultAction::heal;
  record_(Phase::invoke, event, "");
  Seen seen = seen_while_active(injected->in_process);
  const auto undone = undo(*injected, stop);
  if (undone) {
    count(event.fault, &FaultCounts::healed);
    seen.text = both_of(seen.text, *undone);
    tell(seen, event);
  }
  record_(Phase::info, event, undone ? "" : "failed: " + undone.error().message);
  if (!undone) return tl::unexpected(undone.error());
  return {};
}

// A journal that cannot be written keeps no host broken: `ordeal heal` will undo once more than
// needed.
Result<std::string> FaultEngine::undo(const Injected& injected, std::stop_token stop) {
  {
    const std::lock_guard acting(acting_);
    for (const InProcess& step : injected.in_process) ORDEAL_TRY(step.undo());
    ORDEAL_TRY(undo_on_hosts(injected.undo, cluster_, settings_.command_timeout, stop));
  }
  ORDEAL_TRY_ASSIGN(Undone undone, conclude_undo(
                                       injected.undo, cluster_, settings_.probe_timeout,
                                       [this] { return !is_only_fault(); }, stop));
  (void)journal_.healed(injected.undo.id);
  const std::lock_guard lock(state_);
  if (undone.hidden) hidden_.push_back(injected.undo);
  std::erase_if(injected_,
                [&](const Injected& each) { return each.active.id == injected.active.id; });
  return undone.seen;
}

bool FaultEngine::is_only_fault() const {
  const std::lock_guard lock(state_);
  return injected_.size() <= 1;
}

Status FaultEngine::heal_all(const Retries& retries, std::stop_token stop) {
  Status last;
  milliseconds backoff = retries.backoff;
  for (int attempt = 1; attempt <= retries.attempts; ++attempt, backoff *= 2) {
    last = heal_active(stop);
    if (last) last = see_what_was_hidden(stop);
    if (last || attempt == retries.attempts) break;
    if (!sleep_until(std::chrono::steady_clock::now() + backoff, stop)) break;
  }
  if (last) return {};
  return tl::unexpected(
      Error{last.error().kind,
            fmt::format("not all faults could be healed: {}; the watchdogs on the hosts undo them "
                        "in time, and `ordeal heal` on this run's folder tries again",
                        last.error().message)});
}

Status FaultEngine::heal_active(std::stop_token stop) {
  std::vector<ActiveFault> faults = active();
  std::reverse(faults.begin(), faults.end());
  Status first;
  for (const ActiveFault& fault : faults) {
    if (stop.stop_requested()) return stopped();
    const Status healed = heal(fault.id, stop);
    if (!healed && first) first = healed;
  }
  return first;
}

Status FaultEngine::see_what_was_hidden(std::stop_token stop) {
  std::vector<PendingUndo> hidden;
  {
    const std::lock_guard lock(state_);
    hidden = hidden_;
  }
  for (const PendingUndo& undo : hidden) {
    ORDEAL_TRY(see_gone(undo, cluster_, settings_.probe_timeout, stop));
    const std::lock_guard lock(state_);
    std::erase_if(hidden_, [&](const PendingUndo& each) { return each.id == undo.id; });
  }
  return {};
}

std::vector<ActiveFault> FaultEngine::active() const {
  const std::lock_guard lock(state_);
  std::vector<ActiveFault> faults;
  for (const Injected& injected : injected_) faults.push_back(injected.active);
  return faults;
}

std::map<std::string, FaultCounts> FaultEngine::happened() const {
  const std::lock_guard lock(state_);
  return counts_;
}

std::optional<FaultEngine::Injected> FaultEngine::find(FaultId id) const {
  const std::lock_guard lock(state_);
  for (const Injected& injected : injected_) {
    if (injected.active.id == id) return injected;
  }
  return std::nullopt;
}

void FaultEngine::count(const std::string& fault, std::size_t FaultCounts::*counter) {
  const std::lock_guard lock(state_);
  ++(counts_[fault].*counter);
}

}  // namespace ordeal
