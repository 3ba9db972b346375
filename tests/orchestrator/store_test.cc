#include "orchestrator/store.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "tests/support/temporary_directory.h"

using namespace ordeal;
namespace fs = std::filesystem;

TEST_CASE("runs get folders of their own, and the latest that records is linked") {
  const TemporaryDirectory store;
  const auto now = std::chrono::system_clock::time_point(std::chrono::seconds(1'700'000'000));
  const auto first = create_run_folder(store.path(), "demo", 7, now);
  const auto second = create_run_folder(store.path(), "demo", 7, now);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->path == store.path() / "demo" / "20231114T221320Z-7");
  CHECK(second->path == store.path() / "demo" / "20231114T221320Z-7-2");
  CHECK(first->started == "2023-11-14T22:13:20Z");
  CHECK_FALSE(fs::exists(fs::symlink_status(store.path() / "latest")));
  for (const RunFolder& run : {*second, *first}) {
    REQUIRE(link_latest(run));
    CHECK(fs::equivalent(store.path() / "latest", run.path));
    CHECK(fs::equivalent(store.path() / "demo" / "latest", run.path));
  }
}

TEST_CASE("a store that can't be made is told with its path") {
  const auto folder = create_run_folder("/proc/nowhere", "demo", 7, {});
  REQUIRE_FALSE(folder);
  CHECK(folder.error().kind == ErrorKind::surroundings);
  CHECK(folder.error().message.find("/proc/nowhere/demo/") == 0);
}

TEST_CASE("a file is replaced as a whole, or stays as it was") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "verdict.json";
  REQUIRE(write_file(file, "old"));
  // What an interrupted write leaves stands beside the file, which is not opened for writing.
  fs::create_directory(directory.path() / "verdict.json.next");
  const auto refused = write_file(file, "new");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find(file.string()) == 0);
  std::string content;
  std::ifstream(file) >> content;
  CHECK(content == "old");
}

// A disk that takes no more, while this exists.
struct FullDisk {
  FullDisk() {
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    const rlimit limit{16, before.rlim_max};
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
  }
  rlimit before{};
  sighandler_t handler = signal(SIGXFSZ, SIG_IGN);
};

TEST_CASE("a file that can't be written leaves nothing behind") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "verdict.json";
  Status written;
  {
    const FullDisk full;
    written = write_file(file, std::string(100'000, 'x'));
  }
  REQUIRE_FALSE(written);
  CHECK(written.error().message.find(file.string() + ": cannot be written: File too large") == 0);
  CHECK(fs::is_empty(directory.path()));
}

TEST_CASE("the files of hosts are listed in order") {
  const TemporaryDirectory directory;
  const RunFolder folder{directory.path(), ""};
  for (const char* name : {"n2/b.log", "n1/z.log", "n1/a.log"}) {
    const fs::path file = directory.path() / "hosts" / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
  }
  CHECK(host_files(folder) ==
        std::vector<std::string>{"hosts/n1/a.log", "hosts/n1/z.log", "hosts/n2/b.log"});
}
