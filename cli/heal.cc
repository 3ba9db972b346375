// ordeal heal: undo the faults that a killed run left behind, from its heal journal.
#include <fmt/chrono.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>

#include "base/names.h"
#include "cli/commands.h"
#include "cli/host_choice.h"
#include "cli/outcome.h"
#include "nemesis/host_clock.h"
#include "nemesis/journal.h"
#include "nemesis/undo.h"
#include "nemesis/watchdog.h"
#include "orchestrator/lab/lab.h"
#include "orchestrator/store.h"

namespace ordeal {
namespace {

Status check_run(const RunFolder& folder) {
  std::error_code ignored;
  for (const auto& file : {folder.campaign(), folder.lab(), folder.journal()}) {
    if (std::filesystem::exists(file, ignored)) return {};
  }
  return bad_input("{}: expected the folder of a run, e.g. store/latest", folder.path.string());
}

// Nothing is left to undo the faults on; from now on the journal says so too.
Status forget(const std::vector<PendingUndo>& left, const RunFolder& folder, const Lab& lab) {
  ORDEAL_TRY_ASSIGN(const auto journal, HealJournal::open(folder.journal()));
  for (const PendingUndo& undo : left) ORDEAL_TRY(journal->healed(undo.id));
  fmt::print("lab {} is gone, and its faults with it\n", lab.name);
  return {};
}

Result<std::vector<Replayed>> undo_on(const Lab& lab, const RunFolder& folder) {
  ORDEAL_TRY(enter_control_namespace(lab));
  const Cluster cluster = make_cluster(lab);
  return replay(folder.journal(), cluster);
}

// What stays on a host that cannot be reached.
struct Left {
  std::string why;
  std::vector<std::string> faults;
  std::chrono::system_clock::time_point watchdog_at;  // the last one's
};

std::map<std::string, Left> left_on_hosts(const std::vector<Replayed>& replayed) {
  std::map<std::string, Left> hosts;
  for (const Replayed& each : replayed) {
    for (const auto& [host, why] : each.unreachable) {
      Left& left = hosts[host];
      left.why = why;
      left.faults.push_back(fmt::format("{} ({})", each.undo.fault, each.undo.detail));
      left.watchdog_at = std::max(left.watchdog_at, each.undo.watchdog_at);
    }
  }
  return hosts;
}

Error still_broken(const std::string& host, const Left& left) {
  const auto now = std::chrono::system_clock::now();
  const auto rest = std::chrono::ceil<std::chrono::seconds>(left.watchdog_at - now).count();
  const std::string at =
      fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(left.watchdog_at)));
  const std::string watchdog =
      rest > 0 ? fmt::format("its watchdogs undo them by {}, in {} s, if it runs", at, rest)
               : fmt::format("its watchdogs were to undo them by {}, if it runs", at);
  return {ErrorKind::surroundings,
          fmt::format("host {} cannot be reached: {}; what remains there: {}; {}; heal again once "
                      "it can be reached",
                      host, left.why, fmt::join(left.faults, ", "), watchdog)};
}

// Prints each fault healed, and complains of each that could not be, and of each host that cannot
// be reached; the exit code.
int tell(const std::vector<Replayed>& replayed) {
  int code = 0;
  for (const Replayed& each : replayed) {
    if (each.outcome) {
      fmt::print("healed {}: {}\n", each.undo.fault, each.undo.detail);
    } else if (each.unreachable.empty()) {
      code = std::max(code, complain(each.outcome.error()));
    }
  }
  for (const auto& [host, left] : left_on_hosts(replayed)) {
    code = std::max(code, complain(still_broken(host, left)));
  }
  return code;
}

// A run has its journal before it has its history.
Result<int> tell_nothing(const JournalRecord& journal, const RunFolder& folder) {
  std::error_code ignored;
  if (!journal.exists && std::filesystem::exists(folder.history(), ignored)) {
    return bad_input(
        "{} is gone, so that nobody knows which faults the run left; `ordeal heal --host HOST` "
        "lets "
        "the watchdogs of a host undo theirs at once",
        folder.journal().string());
  }
  if (!journal.exists) {
    fmt::print("nothing to heal: the run ended before it could inject a fault\n");
  } else if (journal.begun == 0) {
    fmt::print("nothing to heal: the run injected no fault\n");
  } else {
    fmt::print("nothing to heal: all faults of the run are healed ({})\n", journal.begun);
  }
  return 0;
}

Error unknown_faults(const JournalRecord& journal, const RunFolder& folder, const Lab& lab) {
  std::vector<int> lines;
  for (const auto& damage : journal.damage) lines.push_back(damage.line);
  std::vector<std::string> hosts;
  for (const HostSpec& host : lab.hosts) hosts.push_back(host.name);
  return {ErrorKind::bad_input,
          fmt::format("{}: line {}: expected entries of the heal journal, found `{}`; a fault that "
                      "was announced there may be left on any host ({}), until its watchdog undoes "
                      "it; `ordeal heal --host HOST` lets all watchdogs of a host do so at once; "
                      "then delete the damage",
                      folder.journal().string(), fmt::join(lines, ", "),
                      journal.damage.front().begin, fmt::join(hosts, ", "))};
}

Result<int> heal(const RunFolder& folder) {
  ORDEAL_TRY(check_run(folder));
  ORDEAL_TRY(check_unused(folder.journal()));
  ORDEAL_TRY_ASSIGN(const JournalRecord journal, read_journal(folder.journal()));
  if (journal.pending.empty() && journal.damage.empty()) return tell_nothing(journal, folder);
  ORDEAL_TRY_ASSIGN(const Lab lab, load_lab(folder.lab()));
  if (!lab_is_left(lab)) {
    ORDEAL_TRY(forget(journal.pending, folder, lab));
    return 0;
  }
  const auto replayed = undo_on(lab, folder);
  const int code = replayed ? tell(*replayed) : complain(replayed.error());
  if (journal.damage.empty()) return code;
  return std::max(code, complain(unknown_faults(journal, folder, lab)));
}

// ---- without a run's folder

struct HealArguments {
  std::string run;
  std::string host;       // name within the lab or inventory, else [user@]address[:port]
  std::string lab;        // name of a lab that is up
  std::string inventory;  // file
};

constexpr std::chrono::milliseconds kUndoTimeout{60'000};

Result<int> heal_host(const HealArguments& arguments) {
  ORDEAL_TRY_ASSIGN(const Lab lab,
                    chosen_hosts({arguments.lab, arguments.inventory, {arguments.host}, "--host"}));
  ORDEAL_TRY(enter_control_namespace(lab));
  const Cluster cluster = make_cluster(lab);
  const bool named = !arguments.lab.empty() || !arguments.inventory.empty();
  Host* host = named ? cluster.find(arguments.host) : cluster.hosts().front();
  if (host == nullptr) {
    std::vector<std::string_view> known;
    for (const HostSpec& each : lab.hosts) known.push_back(each.name);
    return bad_input("{}", unknown_name("host", arguments.host, known));
  }
  std::string done;
  for (const Command& each : {undo_now(), restore_clock_now()}) {
    ORDEAL_TRY_ASSIGN(const CommandOutput output, run_checked(*host, each, kUndoTimeout));
    done += output.standard_output;
  }
  fmt::print("{}", done.empty() ? "nothing to heal\n" : done);
  return 0;
}

Result<int> heal(const HealArguments& arguments) {
  if (arguments.host.empty() != arguments.run.empty()) {
    return arguments.host.empty() ? heal(RunFolder{arguments.run, ""}) : heal_host(arguments);
  }
  return bad_input("heal: expected either a run's folder or --host");
}

int heal_or_complain(const HealArguments& arguments) {
  const auto code = heal(arguments);
  return code ? *code : complain(code.error());
}

}  // namespace

void add_heal(CLI::App& app, Action& action) {
  auto arguments = std::make_shared<HealArguments>();
  auto* command = app.add_subcommand("heal", "Undo the faults that a run left behind");
  command->footer(
      "Examples:\n"
      "  ordeal heal store/latest\n"
      "  ordeal heal --host n1 --inventory hosts.ini\n"
      "  ordeal heal --host root@db1.example.org");
  command->add_option("run", arguments->run, "The run's folder");
  command->add_option("--host", arguments->host,
                      "Without the folder: undo at once whatever any run would undo on this host");
  command->add_option("--lab", arguments->lab, "The lab of which --host is one");
  command->add_option("--inventory", arguments->inventory, "The inventory of which --host is one");
  command->callback(
      [arguments, &action] { action = [arguments] { return heal_or_complain(*arguments); }; });
}

}  // namespace ordeal
