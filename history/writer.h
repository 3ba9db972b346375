// Writes a whole history at once, for `ordeal convert` and tests. To record a run, see recorder.h.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "history/header.h"
#include "history/history.h"

namespace ordeal {

// The format follows from the extension: .ohist, .edn (one operation a line), .json (an array) or
// .jsonl (one object a line); only .ohist keeps the header. An existing file is replaced, and only
// once the new one is complete.
Status write_history(const std::filesystem::path& path, const History& history,
                     const HistoryHeader& header);

// An operation as a line of .edn and .jsonl, without the line's end.
std::string edn_line(const Operation& operation);
std::string json_line(const Operation& operation);

}  // namespace ordeal
