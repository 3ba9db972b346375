// The recorder, also on a full disk and in a process that is killed.
#include "history/recorder.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "history/order_warnings.h"
#include "support.h"

namespace ordeal {
namespace {

using namespace std::chrono_literals;

Txn some_txn(std::int64_t element) {
  return Txn{{{MicroFunction::append, Value(element % 10), Value(element), std::nullopt}}};
}

std::unique_ptr<Recorder> recorder_at(const std::filesystem::path& path,
                                      RecorderOptions options = {}) {
  HistoryHeader header;
  header.campaign = "test";
  auto recorder = Recorder::create(path, header, options);
  INFO((recorder ? "" : recorder.error().message));
  REQUIRE(recorder.has_value());
  return *std::move(recorder);
}

TEST_CASE("what was recorded is read back, with payloads, notes and a start time") {
  const TempDir directory;
  const auto before = std::chrono::system_clock::now();
  auto recorder = recorder_at(directory / "h.ohist");
  const auto expected = random_operations(Random(51), 20'000);
  for (const auto& operation : expected) {
    const auto index = recorder->record(operation.process, operation.phase, operation.function,
                                        operation.payload, operation.note);
    REQUIRE(index == operation.index);
  }
  REQUIRE(recorder->close().has_value());
  CHECK(recorder->close().has_value());
  const ReadHistory read = read_ok(directory / "h.ohist");
  // Random operations are in no possible order.
  CHECK(read.warnings == order_warnings(read.history, (directory / "h.ohist").string()));
  CHECK(read.header.start_time >= before);
  CHECK(read.header.campaign == "test");
  auto operations = operations_of(read.history);
  REQUIRE(operations.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) operations[i].time = expected[i].time;
  CHECK((operations == expected));
}

TEST_CASE("many threads: indexes without gaps, times in order, each process in its own order") {
  constexpr std::int64_t kThreads = 8;
  constexpr std::int64_t kEach = 5000;
  const TempDir directory;
  auto recorder =
      recorder_at(directory / "h.ohist", {.sync_interval = 5ms, .block_operations = 500});
  {
    std::vector<std::jthread> threads;
    for (std::int64_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&recorder, thread] {
        for (std::int64_t i = 0; i < kEach; ++i) {
          recorder->record(ProcessId{thread}, i % 2 == 0 ? Phase::invoke : Phase::ok, "txn",
                           some_txn(i / 2));
        }
      });
    }
  }
  recorder->record(kNemesis, Phase::info, "start",
                   FaultEvent{"kill", FaultAction::inject, {"n1"}, ""});
  CHECK(recorder->counts().of(Phase::invoke) == kThreads * kEach / 2);
  CHECK(recorder->counts().of(Phase::ok) == kThreads * kEach / 2);
  CHECK(recorder->counts().of(Phase::info) == 0);
  CHECK(recorder->counts().nemesis == 1);
  REQUIRE(recorder->close().has_value());

  const History history = read_ok(directory / "h.ohist").history;
  REQUIRE(history.size() == kThreads * kEach + 1);
  std::vector<std::int64_t> next(kThreads, 0);
  for (Position at = 0; at < history.size() - 1; ++at) {
    const Event& event = history.event(at);
    REQUIRE(event.index == at);
    if (at > 0) REQUIRE(event.time_ns >= history.event(at - 1).time_ns);
    auto& expected = next[static_cast<std::size_t>(event.process.value)];
    REQUIRE(history.micro_ops(event)[0].value == Value(expected / 2));
    ++expected;
    REQUIRE(event.partner != kNoPosition);
  }
}

TEST_CASE("an idle recorder has written what was recorded 100 ms ago") {
  const TempDir directory;
  auto recorder = recorder_at(directory / "h.ohist");
  recorder->record(ProcessId{1}, Phase::invoke, "txn", some_txn(1));
  const auto deadline = std::chrono::steady_clock::now() + 10s;
  const auto start = recorder->now();
  while (read_ok(directory / "h.ohist").history.size() == 0) {
    REQUIRE(std::chrono::steady_clock::now() < deadline);
    std::this_thread::sleep_for(5ms);
  }
  // 100 ms is the promise; the rest is for a machine that is busy with other tests.
  CHECK(recorder->now() - start < 1s);
}

TEST_CASE("a file that exists, or cannot be created, is refused by name") {
  const TempDir directory;
  spit(directory / "h.ohist", "precious");
  const auto exists = Recorder::create(directory / "h.ohist", {});
  REQUIRE_FALSE(exists.has_value());
  CHECK_THAT(exists.error().message,
             Catch::Contains("h.ohist") && Catch::Contains("never overwritten"));
  CHECK(slurp(directory / "h.ohist") == "precious");
  const auto nowhere = Recorder::create(directory / "none/h.ohist", {});
  CHECK_THAT(nowhere.error().message, Catch::Contains("create its directory"));
  CHECK(nowhere.error().kind == ErrorKind::surroundings);
}

// Runs `body` in a child process, which shares nothing with the tests' own threads and limits. The
// child exits with what it returns.
template <class Body>
pid_t fork_child(Body body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(body());
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

// In the child: a disk that takes 200,000 bytes (a limit on file sizes, which needs no root).
int record_on_full_disk(const std::filesystem::path& path,
                        const std::filesystem::path& message_path) {
  ::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{200'000, 200'000};
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 10;
  auto recorder = Recorder::create(path, {}, {.sync_interval = 5ms, .block_operations = 500});
  if (!recorder) return 11;
  Random random(1);
  std::uint64_t recorded = 0;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while ((*recorder)->status() && std::chrono::steady_clock::now() < deadline) {
    const auto element = static_cast<std::int64_t>(random.next() >> 2U);
    if ((*recorder)->record(ProcessId{1}, Phase::invoke, "txn", some_txn(element)) != recorded++)
      return 12;
  }
  // Goes on counting, and soon.
  for (int i = 0; i < 100'000; ++i) {
    if ((*recorder)->record(ProcessId{1}, Phase::invoke, "txn", some_txn(i)) != recorded++)
      return 13;
  }
  const Status closed = (*recorder)->close();
  if (closed || closed.error().kind != ErrorKind::surroundings) return 14;
  spit(message_path, closed.error().message);
  return 0;
}

TEST_CASE("a full disk ends recording with a clear message; what was written stays readable") {
  const TempDir directory;
  const auto path = directory / "h.ohist";
  const int status =
      wait_for(fork_child([&] { return record_on_full_disk(path, directory / "message"); }));
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  CHECK_THAT(slurp(directory / "message"), Catch::Contains(path.string()) &&
                                               Catch::Contains("File too large") &&
                                               Catch::Contains("ulimit"));
  const ReadHistory read = read_ok(path);
  // The half block was taken back.
  CHECK(read.warnings == order_warnings(read.history, path.string()));
  CHECK(read.history.size() > 500);
  CHECK(read.history.events().back().index == read.history.size() - 1);
  CHECK(std::filesystem::file_size(path) > 100'000);
}

// In the child: records for ever, and tells `pipe` after each pause of two sync intervals how much
// must be on disk by then.
int record_until_killed(const std::filesystem::path& path, int pipe) {
  auto recorder = Recorder::create(path, {}, {.sync_interval = 20ms});
  if (!recorder) return 11;
  for (std::int64_t i = 0;; ++i) {
    const std::uint64_t index =
        (*recorder)->record(ProcessId{i}, Phase::invoke, "txn", some_txn(i));
    if (i % 1000 != 999) continue;
    std::this_thread::sleep_for(100ms);
    if (::write(pipe, &index, sizeof index) != sizeof index) return 12;
  }
}

TEST_CASE("kill -9 loses nothing that was synced") {
  const TempDir directory;
  const auto path = directory / "h.ohist";
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = fork_child([&] { return record_until_killed(path, ends[1]); });
  std::uint64_t promised = 0;
  while (promised < 5000) REQUIRE(::read(ends[0], &promised, sizeof promised) == sizeof promised);
  ::kill(child, SIGKILL);
  CHECK(WIFSIGNALED(wait_for(child)));
  ::close(ends[0]);
  ::close(ends[1]);
  const History history = read_ok(path).history;
  REQUIRE(history.size() > promised);
  for (Position at = 0; at < history.size(); ++at) REQUIRE(history.event(at).index == at);
}

TEST_CASE("a slow writer makes record() wait rather than fill memory") {
  const TempDir directory;
  auto recorder =
      recorder_at(directory / "h.ohist", {.block_operations = 10, .pending_operations_max = 20});
  for (std::int64_t i = 0; i < 5000; ++i)
    recorder->record(ProcessId{i}, Phase::invoke, "txn", some_txn(i));
  REQUIRE(recorder->close().has_value());
  CHECK(read_ok(directory / "h.ohist").history.size() == 5000);
}

}  // namespace
}  // namespace ordeal
