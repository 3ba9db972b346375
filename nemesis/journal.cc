#include "nemesis/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

namespace ordeal {
namespace {

using nlohmann::json;

constexpr std::size_t kExcerptBytesMax = 60;

json to_json(const Command& command) {
  return {{"arguments", command.arguments},
          {"environment", command.environment},
          {"user", command.user},
          {"stdin", command.standard_input}};
}

json to_json(const HostCommands& of_host) {
  json commands = json::array();
  for (const Command& command : of_host.commands) commands.push_back(to_json(command));
  return {{"host", of_host.host}, {"commands", commands}};
}

json to_json(const std::vector<HostCommands>& commands) {
  json hosts = json::array();
  for (const HostCommands& of_host : commands) hosts.push_back(to_json(of_host));
  return hosts;
}

json to_json(const PendingUndo& undo) {
  return {{"event", "begin"},
          {"id", undo.id},
          {"fault", undo.fault},
          {"detail", undo.detail},
          {"undo", to_json(undo.undo)},
          {"healed", to_json(undo.healed)},
          {"watchdog_at", std::chrono::system_clock::to_time_t(undo.watchdog_at)}};
}

// The readers throw what the library throws: parse_line() is the wrapper.
Command command_from(const json& line) {
  return {.arguments = line.at("arguments").get<std::vector<std::string>>(),
          .standard_input = line.at("stdin").get<std::string>(),
          .environment = line.at("environment").get<std::map<std::string, std::string>>(),
          .user = line.at("user").get<std::string>()};
}

std::vector<HostCommands> commands_from(const json& hosts) {
  std::vector<HostCommands> commands;
  for (const json& of_host : hosts) {
    commands.push_back({of_host.at("host").get<std::string>(), {}});
    for (const json& command : of_host.at("commands")) {
      commands.back().commands.push_back(command_from(command));
    }
  }
  return commands;
}

PendingUndo undo_from(const json& line) {
  return {.id = line.at("id").get<std::string>(),
          .fault = line.at("fault").get<std::string>(),
          .detail = line.at("detail").get<std::string>(),
          .undo = commands_from(line.at("undo")),
          .healed = commands_from(line.at("healed")),
          .watchdog_at =
              std::chrono::system_clock::from_time_t(line.at("watchdog_at").get<std::time_t>())};
}

void apply_event(const json& line, JournalRecord& record) {
  if (line.at("event") == "begin") {
    record.pending.push_back(undo_from(line));
    ++record.begun;
    return;
  }
  if (line.at("event") != "healed") throw std::runtime_error("unknown event");
  const std::string id = line.at("id").get<std::string>();
  std::erase_if(record.pending, [&](const PendingUndo& undo) { return undo.id == id; });
}

// Whether the line is an entry of a journal.
bool apply_line(const std::string& line, JournalRecord& record) {
  try {
    apply_event(json::parse(line), record);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

tl::unexpected<Error> file_error(const std::filesystem::path& path, std::string_view what) {
  return surroundings_error("heal journal {}: {} failed: {}", path.string(), what,
                            std::strerror(errno));
}

Status write_all(int descriptor, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error(path, "writing");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// Cuts a torn last line off, so that what is appended starts a line.
Status cut_torn_line(int descriptor, const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t end = text.find_last_of('\n');
  const auto whole = static_cast<off_t>(end == std::string::npos ? 0 : end + 1);
  if (::ftruncate(descriptor, whole) != 0) return file_error(path, "truncating");
  return {};
}

// A new file's name is on disk only once its directory is.
Status sync_directory(const std::filesystem::path& path) {
  const std::filesystem::path directory = path.has_parent_path() ? path.parent_path() : ".";
  const int descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return file_error(directory, "opening the directory");
  const int synced = ::fsync(descriptor);
  ::close(descriptor);
  if (synced != 0) return file_error(directory, "syncing the directory");
  return {};
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// File systems without locks have no journal that is in use.
Status refuse_used(int descriptor, const std::filesystem::path& path) {
  struct flock lock = whole_file();
  if (::fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return {};
  return bad_input(
      "{}: process {} is still writing it: a run that is going heals its faults itself; end it by "
      "Ctrl-C or `kill -INT {}`, or, where it does not react, by `kill -KILL {}`, and then heal",
      path.string(), lock.l_pid, lock.l_pid, lock.l_pid);
}

Status lock_file(int descriptor, const std::filesystem::path& path) {
  struct flock lock = whole_file();
  if (::fcntl(descriptor, F_SETLK, &lock) == 0) return {};
  return refuse_used(descriptor, path);
}

}  // namespace

HealJournal::HealJournal(int descriptor, std::filesystem::path path)
    : descriptor_(descriptor), path_(std::move(path)) {}

HealJournal::~HealJournal() { ::close(descriptor_); }

Result<std::unique_ptr<HealJournal>> HealJournal::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor < 0) return file_error(path, "opening");
  std::unique_ptr<HealJournal> journal(new HealJournal(descriptor, path));
  ORDEAL_TRY(refuse_used(descriptor, path));
  ORDEAL_TRY(cut_torn_line(descriptor, path));
  ORDEAL_TRY(sync_directory(path));
  ORDEAL_TRY(lock_file(descriptor, path));  // last, since closing the file anywhere unlocks it
  return journal;
}

Status check_unused(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  Status unused = refuse_used(descriptor, path);
  ::close(descriptor);
  return unused;
}

Status HealJournal::append(std::string line) {
  line += '\n';
  const std::lock_guard lock(mutex_);
  ORDEAL_TRY(write_all(descriptor_, line, path_));
  if (::fdatasync(descriptor_) != 0) return file_error(path_, "syncing");
  return {};
}

Status HealJournal::began(const PendingUndo& undo) {
  return append(to_json(undo).dump(-1, ' ', false, json::error_handler_t::replace));
}

Status HealJournal::healed(const std::string& id) {
  return append(json{{"event", "healed"}, {"id", id}}.dump());
}

Result<JournalRecord> read_journal(const std::filesystem::path& path) {
  JournalRecord record;
  std::error_code error;
  const auto type = std::filesystem::status(path, error).type();
  if (type == std::filesystem::file_type::not_found) return record;
  std::ifstream file(path, std::ios::binary);
  if (!file || type != std::filesystem::file_type::regular) {
    return bad_input("heal journal {} cannot be read: {}", path.string(),
                     error ? error.message() : "it is no file, or not yours to read");
  }
  record.exists = true;
  std::string line;
  // A line that ends in the end of the file, and not in '\n', is torn.
  for (int number = 1; std::getline(file, line) && !file.eof(); ++number) {
    if (apply_line(line, record)) continue;
    record.damage.push_back({number, line.substr(0, kExcerptBytesMax)});
  }
  return record;
}

}  // namespace ordeal
