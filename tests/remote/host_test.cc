// Local hosts, the fake host, and what holds for a cluster of any hosts. Hosts over SSH are tested
// with the lab, which has real ones (tests/orchestrator).
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <thread>

#include "remote/fake_host.h"
#include "remote/local_host.h"
#include "remote/process.h"

namespace ordeal {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Scratch {
  Scratch() {
    std::string pattern = "/tmp/ordeal-host-test-XXXXXX";
    path = mkdtemp(pattern.data());
  }
  ~Scratch() { fs::remove_all(path); }
  fs::path path;
};

std::unique_ptr<Host> local_host(const fs::path& directory) {
  HostSpec spec;
  spec.name = "n1";
  spec.local = true;
  spec.directory = directory;
  spec.user = "me";
  return make_local_host(spec, {});
}

std::size_t open_files() {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

TEST_CASE("a local command has input, outputs, status and environment") {
  const Scratch scratch;
  const auto host = local_host(scratch.path);
  const auto output =
      host->run({{"sh", "-c", "cat; echo \"$A $ORDEAL_HOST_DIRECTORY\" >&2; exit 7"},
                 "in\n",
                 {{"A", "b"}},
                 "me"});
  REQUIRE(output);
  CHECK(output->exit_status == 7);
  CHECK(output->standard_output == "in\n");
  CHECK(output->standard_error == "b " + scratch.path.string() + "\n");
}

TEST_CASE("a local command that a signal ended") {
  const Scratch scratch;
  const auto output = local_host(scratch.path)->run({{"sh", "-c", "kill -9 $$"}, {}, {}, {}});
  REQUIRE(output);
  CHECK(output->exit_status == 128 + 9);
}

TEST_CASE("much input and output at once do not block each other") {
  const Scratch scratch;
  const std::string input(3'000'000, 'x');
  const auto output = local_host(scratch.path)->run({{"cat"}, input, {}, {}});
  REQUIRE(output);
  CHECK(output->standard_output == input);
}

TEST_CASE("input that nobody reads is no failure") {
  const Scratch scratch;
  const auto output = local_host(scratch.path)
                          ->run({{"sh", "-c", "exec <&-; sleep 0.1; echo done"},
                                 std::string(1'000'000, 'x'),
                                 {},
                                 {}});
  REQUIRE(output);
  CHECK(output->standard_output == "done\n");
}

TEST_CASE("a local command that takes too long is killed with its children") {
  const Scratch scratch;
  const fs::path pid_file = scratch.path / "pid";
  const auto begin = Clock::now();
  const auto output =
      local_host(scratch.path)
          ->run({{"sh", "-c", "sleep 60 & echo $! > " + pid_file.string() + "; wait"}, {}, {}, {}},
                milliseconds(300));
  CHECK(Clock::now() - begin < seconds(5));
  REQUIRE_FALSE(output);
  CHECK(output.error().message.find("300 ms") != std::string::npos);
  std::ifstream in(pid_file);
  std::string pid;
  REQUIRE(in >> pid);
  const auto gone = [&] {
    std::ifstream stat("/proc/" + pid + "/stat");
    std::string skipped;
    std::string state = "X";
    stat >> skipped >> skipped >> state;
    return state == "X" || state == "Z";
  };
  for (int i = 0; i < 200 && !gone(); ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(gone());
}

TEST_CASE("a local command ends soon after a stop request") {
  const Scratch scratch;
  const auto host = local_host(scratch.path);
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(milliseconds(100));
    stop.request_stop();
  });
  const auto begin = Clock::now();
  const auto output = host->run({{"sleep", "60"}, {}, {}, {}}, seconds(60), stop.get_token());
  CHECK(Clock::now() - begin < milliseconds(1000));
  REQUIRE_FALSE(output);
  CHECK(output.error().kind == ErrorKind::stopped);
}

TEST_CASE("a daemon that keeps the streams does not hold up its starter") {
  const Scratch scratch;
  const auto begin = Clock::now();
  const auto output =
      local_host(scratch.path)->run({{"sh", "-c", "sleep 3 & echo started"}, {}, {}, {}});
  REQUIRE(output);
  CHECK(output->standard_output == "started\n");
  CHECK(Clock::now() - begin < seconds(2));
}

TEST_CASE("concurrent local commands leak no files to each other or to us") {
  const Scratch scratch;
  const auto host = local_host(scratch.path);
  const std::size_t before = open_files();
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 10; ++round) {
          const std::string text = std::to_string(i);
          // ls itself opens the directory: descriptors 0 to 3.
          const auto output =
              host->run({{"sh", "-c", "cat; ls /proc/self/fd | wc -l"}, text, {}, {}});
          if (output && output->standard_output == text + "4\n") ++good;
        }
      });
    }
  }
  CHECK(good == 80);
  CHECK(open_files() == before);
}

TEST_CASE("local files are copied; what cannot be is named") {
  const Scratch scratch;
  const auto host = local_host(scratch.path);
  std::ofstream(scratch.path / "a") << "text";
  REQUIRE(host->upload(scratch.path / "a", scratch.path / "b"));
  REQUIRE(host->download(scratch.path / "b", scratch.path / "c"));
  CHECK(fs::file_size(scratch.path / "c") == 4);
  const auto missing = host->download(scratch.path / "none", scratch.path / "d");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message.find("none") != std::string::npos);
}

TEST_CASE("run_checked names host, command, status and the last line of stderr") {
  FakeHost host({.name = "n3",
                 .address = {},
                 .identity = {},
                 .known_hosts = {},
                 .directory = {},
                 .proxy_command = {}});
  host.answer = [](const Command&) { return CommandOutput{2, "", "first\nno such table\n"}; };
  const auto output = run_checked(host, {{"psql", "-c", "x y"}, {}, {}, {}});
  REQUIRE_FALSE(output);
  CHECK(output.error().message ==
        "on host n3, `psql -c 'x y'` ended with exit status 2; it said: no such table");
  CHECK(host.ran.size() == 1);
}

std::unique_ptr<FakeHost> fake(const std::string& name) {
  HostSpec spec;
  spec.name = name;
  return std::make_unique<FakeHost>(spec);
}

TEST_CASE("a cluster works on all hosts at once, and joins what failed") {
  std::vector<std::unique_ptr<Host>> hosts;
  for (const char* name : {"n1", "n2", "n3"}) hosts.push_back(fake(name));
  const Cluster cluster(std::move(hosts));
  CHECK(cluster.find("n2")->name() == "n2");
  CHECK(cluster.find("n9") == nullptr);
  std::atomic<int> arrived = 0;
  const Status status = cluster.for_each([&](Host& host) -> Status {
    ++arrived;  // all meet here, which they could not one after the other
    for (int i = 0; i < 500 && arrived < 3; ++i) std::this_thread::sleep_for(milliseconds(10));
    if (arrived < 3) return internal_error("alone");
    if (host.name() == "n2") return {};
    return surroundings_error("{} is down", host.name());
  });
  REQUIRE_FALSE(status);
  CHECK(status.error().message == "n1 is down; n3 is down");
}

}  // namespace
}  // namespace ordeal
