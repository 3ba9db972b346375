// Reads a saved history of any known format. What is damaged at the end of a file (a torn block,
// half a line) is left out with a warning; anything else that is wrong is bad_input, and says
// where: file, line or byte, and what was expected there. Operations that cannot be in their
// real-time order (see history/order_warnings.h) are kept, with a warning.
//
// Memory is bounded by the size of the file, and by the limits of history/format.h for each block.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "history/header.h"
#include "history/history.h"

namespace ordeal {

struct ReadHistory {
  History history;
  HistoryHeader header;               // empty but for .ohist
  std::vector<std::string> warnings;  // sentences for the user
  // Part of the recorded operations is missing other than at the torn end: no verdict of valid can
  // rest on it.
  bool damaged = false;
};

struct ReadOptions {
  std::string_view format = "auto";
  // Accepts what is otherwise refused or warned of, and says in the warnings what was changed. See
  // history/repair.h.
  bool repair = false;
};

// `format` is "ordeal" (.ohist), "edn" (Jepsen), "json" (an array, or an object a line), "plume"
// (text), "dbcop" (JSON) or "auto": by the first bytes of the file.
Result<ReadHistory> read_history(const std::filesystem::path& path, const ReadOptions& options);
Result<ReadHistory> read_history(const std::filesystem::path& path,
                                 std::string_view format = "auto");

}  // namespace ordeal
