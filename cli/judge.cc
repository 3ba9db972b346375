#include "cli/judge.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>

#include "base/names.h"
#include "orchestrator/run.h"
#include "orchestrator/vacuity.h"

namespace ordeal {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

bool has(const History& history, PayloadKind kind) {
  return std::any_of(history.events().begin(), history.events().end(),
                     [&](const Event& event) { return event.kind == kind; });
}

// Transfers, or what a read of accounts returned: an invoked read of anything has the value nil,
// which alone is no sign of a bank.
bool has_accounts(const History& history) {
  return std::any_of(history.events().begin(), history.events().end(), [&](const Event& event) {
    if (event.kind != PayloadKind::balances) return event.kind == PayloadKind::transfer;
    return std::get<Balances>(history.payload(event)).accounts.has_value();
  });
}

bool has_clients(const History& history) {
  return std::any_of(history.events().begin(), history.events().end(),
                     [](const Event& event) { return event.process != kNemesis; });
}

bool has_writes(const History& history) {
  return std::any_of(history.events().begin(), history.events().end(), [&](const Event& event) {
    const auto ops = history.micro_ops(event);
    return std::any_of(ops.begin(), ops.end(),
                       [](const StoredMicroOp& op) { return op.function == MicroFunction::write; });
  });
}

void count_outcomes(const History& history, RunVerdict& verdict) {
  for (Position position = 0; position < history.size(); ++position) {
    const Event& event = history.event(position);
    if (event.process == kNemesis) {
      if (event.kind != PayloadKind::fault || event.phase == Phase::invoke) continue;
      const auto& fault = std::get<FaultEvent>(history.payload(event));
      if (fault.action == FaultAction::inject && history.note(position).empty()) {
        ++verdict.fault_counts[fault.fault];
      }
      continue;
    }
    if (event.phase == Phase::ok) ++verdict.outcomes.ok;
    if (event.phase == Phase::fail) ++verdict.outcomes.fail;
    if (event.phase == Phase::info) ++verdict.outcomes.info;
  }
}

void decide(RunVerdict& verdict) {
  verdict.overall = Validity::valid;
  for (const auto& judgement : verdict.judgements) {
    if (merge(verdict.overall, judgement.result.validity) == verdict.overall) continue;
    verdict.overall = judgement.result.validity;
    verdict.reason = judgement.result.reason;
  }
  // What was found stays found; but what was not tested is not valid.
  if (verdict.vacuity.empty() || verdict.overall == Validity::invalid) return;
  verdict.overall = Validity::unknown;
  verdict.reason = "the run was vacuous: " + boost::join(verdict.vacuity, "; ");
}

}  // namespace

Catalogs all_catalogs() {
  return {target_catalog(), workload_catalog(), fault_catalog(), checker_catalog()};
}

Result<LoadedHistory> load_history(const std::filesystem::path& file, const ReadOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  ORDEAL_TRY_ASSIGN(ReadHistory read, read_history(file, options));
  return LoadedHistory{file.string(), std::move(read), seconds_since(start)};
}

Result<const CheckerEntry*> choose_checker(const std::string& name, const LoadedHistory& loaded) {
  std::string wanted = name;
  if (wanted.empty() && has_writes(loaded.read.history)) wanted = "rw-register";
  if (wanted.empty() && has(loaded.read.history, PayloadKind::txn)) wanted = "list-append";
  // Which checker says that there was nothing to judge is all the same.
  if (wanted.empty() && !has_clients(loaded.read.history)) wanted = "list-append";
  if (wanted.empty() && has_accounts(loaded.read.history)) wanted = "bank";
  const auto known = names_of(checker_catalog());
  if (wanted.empty()) {
    std::string warnings;  // damage may be the reason
    for (const auto& warning : loaded.read.warnings) warnings += " (" + warning + ")";
    return bad_input("{}: its operations belong to no known checker; choose one with --checker{}",
                     loaded.file, warnings);
  }
  for (const auto& entry : checker_catalog()) {
    if (entry.name == wanted) return &entry;
  }
  return bad_input("{}", unknown_name("checker", wanted, known));
}

Judgement judge(const LoadedHistory& loaded, const CheckerEntry& checker, const Options& options,
                std::stop_token stop) {
  Judgement judgement;
  judgement.file = loaded.file;
  judgement.read_seconds = loaded.read_seconds;
  judgement.warnings = loaded.read.warnings;
  const auto start = std::chrono::steady_clock::now();
  try {
    judgement.result = checker.check(loaded.read.history, options, stop);
  } catch (const std::exception& error) {
    judgement.result.reason = fmt::format("the checker failed: {}", error.what());
  }
  if (loaded.read.damaged && judgement.result.validity == Validity::valid) {
    judgement.result.validity = Validity::unknown;
    judgement.result.reason = "the history is damaged: a part of what was recorded is missing";
  }
  judgement.result.checker = checker.name;
  judgement.result.check_seconds = seconds_since(start);
  return judgement;
}

RunVerdict judge_run(const LoadedHistory& loaded, const RunFolder& folder, const Campaign& campaign,
                     std::stop_token stop) {
  const HistoryHeader& header = loaded.read.header;
  const History& history = loaded.read.history;
  RunVerdict verdict;
  verdict.campaign = campaign.name;
  verdict.seed = header.seed;
  verdict.command = header.command;
  verdict.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                  fmt::gmtime(std::chrono::system_clock::to_time_t(header.start_time)));
  if (history.size() > 0) {
    verdict.duration = std::chrono::milliseconds(history.events().back().time_ns / 1'000'000);
  }
  verdict.versions["ordeal"] = header.ordeal_version;
  if (const auto fact = header.facts.find(kFactTarget); fact != header.facts.end()) {
    verdict.versions[kFactTarget] = fact->second;
  }
  for (const auto& check : campaign.checks) {
    verdict.judgements.push_back(judge(loaded, *check.entry, check.options, stop));
  }
  verdict.vacuity = find_vacuity(history, planned_of(header));
  verdict.log_files = host_files(folder);
  count_outcomes(history, verdict);
  verdict.coverage = fault_coverage(fault_spans(history));
  decide(verdict);
  return verdict;
}

}  // namespace ordeal
