// Judging saved histories: choosing the checker, running it, and putting a run's verdict together.
#pragma once

#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/result.h"
#include "history/reader.h"
#include "orchestrator/campaign.h"
#include "orchestrator/store.h"
#include "report/judgement.h"

namespace ordeal {

// A history as read from disk, and how long that took.
struct LoadedHistory {
  std::string file;
  ReadHistory read;
  double read_seconds = 0;
};
Result<LoadedHistory> load_history(const std::filesystem::path& file, const ReadOptions& options);

// The checker of that name; "" chooses by what the history's operations are.
Result<const CheckerEntry*> choose_checker(const std::string& name, const LoadedHistory& loaded);

// Exceptions of a checker become an unknown verdict: a crash is never "valid".
Judgement judge(const LoadedHistory& loaded, const CheckerEntry& checker, const Options& options,
                std::stop_token stop);

// All checks of the campaign over the history, which was loaded from the folder, and the vacuity
// check.
RunVerdict judge_run(const LoadedHistory& loaded, const RunFolder& folder, const Campaign& campaign,
                     std::stop_token stop);

Catalogs all_catalogs();

}  // namespace ordeal
