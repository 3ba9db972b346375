#include "nemesis/journal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstring>
#include <fstream>

#include "nemesis/plan.h"
#include "nemesis/undo.h"

namespace ordeal {
namespace {

struct Folder {
  Folder() { REQUIRE(mkdtemp(name.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(name); }
  std::filesystem::path file() const { return std::filesystem::path(name) / kJournalFile; }
  std::string name = "/tmp/ordeal-journal-XXXXXX";
};

PendingUndo undo(const std::string& id) {
  Command odd = command({"sh", "-c", "echo 'it''s' \"$1\"\n", "", "\xc3\xa9"});
  odd.standard_input = "line\n";
  odd.environment = {{"A", "b c"}};
  odd.user = "postgres";
  return {.id = id,
          .fault = "kill",
          .detail = "SIGKILL to the database on n1",
          .undo = {{"n1", {odd, command({"true"})}}, {"n2", {}}},
          .watchdog_at = std::chrono::system_clock::from_time_t(1'700'000'000)};
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST_CASE("what began and was not healed is pending, exactly as written") {
  const Folder folder;
  const auto journal = HealJournal::open(folder.file()).value();
  for (const char* id : {"r-1", "r-2", "r-3"}) REQUIRE(journal->began(undo(id)));
  REQUIRE(journal->healed("r-2"));
  CHECK(read_journal(folder.file()).value().pending == std::vector{undo("r-1"), undo("r-3")});
  REQUIRE(journal->healed("r-1"));
  REQUIRE(journal->healed("r-3"));
  CHECK(read_journal(folder.file()).value().pending.empty());
}

TEST_CASE("a journal that is not there is told from one without faults") {
  const Folder folder;
  CHECK_FALSE(read_journal(folder.file()).value().exists);
  REQUIRE(HealJournal::open(folder.file()));
  CHECK(read_journal(folder.file()).value().exists);
  CHECK(read_journal(folder.file()).value().begun == 0);
}

TEST_CASE("a torn last line is ignored at every length, and appending starts a line") {
  const Folder folder;
  REQUIRE(HealJournal::open(folder.file()).value()->began(undo("r-1")));
  const std::string first = text_of(folder.file());
  REQUIRE(HealJournal::open(folder.file()).value()->began(undo("r-2")));
  const std::string both = text_of(folder.file());
  for (std::size_t length = first.size(); length < both.size(); ++length) {
    std::ofstream(folder.file()) << both.substr(0, length);
    REQUIRE(read_journal(folder.file()).value().pending == std::vector{undo("r-1")});
  }
  REQUIRE(HealJournal::open(folder.file()).value()->healed("r-1"));
  CHECK(read_journal(folder.file()).value().pending.empty());
}

TEST_CASE("a line that no journal has hides no other line") {
  for (const std::string line : {"not json", "{}", "{\"event\": \"other\"}", "[1]", "",
                                 "{\"event\": \"begin\", \"id\": 3}"}) {
    CAPTURE(line);
    const Folder folder;
    REQUIRE(HealJournal::open(folder.file()).value()->began(undo("r-1")));
    std::ofstream(folder.file(), std::ios::app) << line << "\n";
    const auto journal = HealJournal::open(folder.file()).value();
    for (const char* id : {"r-2", "r-3"}) REQUIRE(journal->began(undo(id)));
    REQUIRE(journal->healed("r-2"));
    const JournalRecord read = read_journal(folder.file()).value();
    CHECK(read.pending == std::vector{undo("r-1"), undo("r-3")});
    CHECK(read.begun == 3);
    REQUIRE(read.damage.size() == 1);
    CHECK(read.damage[0].line == 2);
    CHECK(read.damage[0].begin == line);
  }
}

TEST_CASE("a journal that cannot be read is bad input, and no exception") {
  const Folder folder;
  for (const std::string& path : {folder.name + "/" + std::string(300, 'x'), folder.name}) {
    const auto read = read_journal(path);
    REQUIRE_FALSE(read);
    CHECK(read.error().kind == ErrorKind::bad_input);
    CHECK(read.error().message.find(path) != std::string::npos);
  }
}

TEST_CASE("nobody else has the journal of a process that lives") {
  const Folder folder;
  CHECK(check_unused(folder.file()));
  int ready[2];
  int end[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe2(end, O_CLOEXEC) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto journal = HealJournal::open(folder.file());
    const bool began = journal && (*journal)->began(undo("r-1"));
    close(end[1]);
    if (fork() == 0) {  // inherits the file, not the lock
      char byte = 0;
      _exit(read(end[0], &byte, 1) == 0 ? 0 : 1);
    }
    if (write(ready[1], began ? "1" : "0", 1) != 1) _exit(1);
    pause();
    _exit(0);
  }
  struct Ended {
    pid_t child;
    ~Ended() {
      if (child > 0) kill(child, SIGKILL);
    }
  } ended{child};
  char began = '0';
  REQUIRE(read(ready[0], &began, 1) == 1);
  CHECK(began == '1');
  const std::string expected =
      folder.file().string() + ": process " + std::to_string(child) + " is still writing it: ";
  const std::vector<Status> refused{check_unused(folder.file()),
                                    HealJournal::open(folder.file()).map([](const auto&) {}),
                                    replay(folder.file(), Cluster()).map([](const auto&) {})};
  for (const Status& each : refused) {
    REQUIRE_FALSE(each);
    CHECK(each.error().kind == ErrorKind::bad_input);
    CHECK(each.error().message.starts_with(expected));
  }
  REQUIRE(kill(child, SIGKILL) == 0);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  ended.child = 0;
  CHECK(check_unused(folder.file()));
  CHECK(read_journal(folder.file()).value().pending.size() == 1);
  for (const int each : {ready[0], ready[1], end[0], end[1]}) close(each);
}

TEST_CASE("a journal that cannot be written is an error that names the file") {
  const auto opened = HealJournal::open("/nonexistent/heal.jsonl");
  REQUIRE_FALSE(opened);
  CHECK(opened.error().message.find("/nonexistent/heal.jsonl") != std::string::npos);
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder.file());
  const auto full = HealJournal::open(folder.file());
  if (full) CHECK_FALSE((*full)->began(undo("r-1")));
}

}  // namespace
}  // namespace ordeal
