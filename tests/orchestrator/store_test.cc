#include "orchestrator/store.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "orchestrator/inventory.h"
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

TEST_CASE("an inventory gives hosts with their logins") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "hosts.ini";
  std::ofstream(file)
      << "# fleet\n[db]\nn1 ansible_host=127.0.0.2 ansible_port=2222\nn2 "
         "ansible_host=127.0.0.3\n[replica]\nn2 "
         "ansible_user=pg\n[db:children]\nreplica\n[db:vars]\nansible_ssh_private_key_file=/k\n"
         "[all:vars]\nansible_user=root\n";
  const auto lab = read_inventory(file);
  REQUIRE(lab);
  REQUIRE(lab->hosts.size() == 2);
  CHECK(lab->hosts[0].address == "127.0.0.2");
  CHECK(lab->hosts[0].ssh_port == 2222);
  CHECK(lab->hosts[0].user == "root");
  CHECK(lab->hosts[1].user == "pg");
  CHECK(lab->hosts[0].identity == "/k");
  CHECK(lab->control_address == "127.0.0.1");

  std::ofstream(file) << "n1 ansible_port=many\n";
  const auto bad = read_inventory(file);
  REQUIRE_FALSE(bad);
  CHECK(bad.error().message.find("hosts.ini:1: ansible_port is \"many\"") != std::string::npos);
}
