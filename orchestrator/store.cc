#include "orchestrator/store.h"

#include <fmt/chrono.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "nemesis/journal.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;

// Replaced by a rename, so that the link never is missing.
Status point_latest(const fs::path& directory, const fs::path& target) {
  std::error_code error;
  const fs::path link = directory / "latest";
  const fs::path next = directory / fmt::format(".latest-{}", getpid());
  fs::remove(next, error);
  fs::create_directory_symlink(target, next, error);
  if (!error) fs::rename(next, link, error);
  if (!error) return {};
  return surroundings_error("{}: cannot be linked to the new run: {}", link.string(),
                            error.message());
}

}  // namespace

fs::path RunFolder::journal() const { return path / kJournalFile; }

Result<RunFolder> create_run_folder(const fs::path& store, const std::string& campaign,
                                    std::uint64_t seed, std::chrono::system_clock::time_point now) {
  const auto utc = fmt::gmtime(std::chrono::system_clock::to_time_t(now));
  const std::string base = fmt::format("{:%Y%m%dT%H%M%SZ}-{}", utc, seed);
  std::error_code error;
  fs::create_directories(store / campaign, error);
  std::string name = base;
  // Two runs may start within a second with one seed.
  for (int copy = 2; !error && !fs::create_directory(store / campaign / name, error); ++copy) {
    name = fmt::format("{}-{}", base, copy);
  }
  if (error) {
    return surroundings_error("{}: the run's folder cannot be created: {}; choose another --store",
                              (store / campaign / name).string(), error.message());
  }
  return RunFolder{store / campaign / name, fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", utc)};
}

Status link_latest(const RunFolder& folder) {
  const fs::path runs = folder.path.parent_path();
  ORDEAL_TRY(point_latest(runs, folder.path.filename()));
  return point_latest(runs.parent_path(), runs.filename() / folder.path.filename());
}

std::vector<std::string> host_files(const RunFolder& folder) {
  std::vector<std::string> files;
  std::error_code error;
  const fs::recursive_directory_iterator all(folder.path / "hosts", error);
  for (const auto& entry : all) {
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), folder.path).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Status write_file(const fs::path& path, const std::string& content) {
  const fs::path next = path.string() + ".next";
  std::ofstream stream(next, std::ios::binary);
  stream << content;
  stream.close();
  const int failure = errno;
  std::error_code error;
  if (stream) fs::rename(next, path, error);
  if (stream && !error) return {};
  std::error_code ignored;
  if (fs::is_regular_file(next, ignored)) fs::remove(next, ignored);
  return surroundings_error("{}: cannot be written: {}", path.string(),
                            error ? error.message() : std::strerror(failure));
}

}  // namespace ordeal
