// Pictures of anomalies as files.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "checkers/checker.h"

namespace ordeal {

// Writes "<type>-<number>.dot" and ".svg" for each cycle of the result into the directory, which is
// made if need be.
Status write_pictures(const CheckResult& result, const std::filesystem::path& directory);

}  // namespace ordeal
