// Ansible inventories: what is read from which place, and what is refused with its line.
#include "orchestrator/inventory.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/temporary_directory.h"

using namespace ordeal;

namespace {

Result<Lab> inventory(const std::string& text) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "hosts.ini";
  std::ofstream(file) << text;
  return read_inventory(file);
}

std::string error_of(const std::string& text) {
  const auto read = inventory(text);
  REQUIRE_FALSE(read);
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().message.substr(read.error().message.find("hosts.ini"));
}

}  // namespace

TEST_CASE("a host's own variables come before its groups', and those before everybody's") {
  const auto lab = inventory(
      "[db]\n"
      "n1 ansible_host=127.0.0.2 ansible_port=2222  # a comment\n"
      "n2 ansible_host=127.0.0.3\n"
      "[db:vars]\n"
      "ansible_port=2200\n"
      "ansible_user=tester\n"
      "[all:vars]\n"
      "ansible_user=nobody\n"
      "ansible_ssh_private_key_file=/key\n"
      "[everything:children]\n"
      "db\n");
  REQUIRE(lab);
  REQUIRE(lab->hosts.size() == 2);
  const HostSpec& first = lab->hosts[0];
  CHECK(first.name == "n1");
  CHECK(first.address == "127.0.0.2");
  CHECK(first.ssh_port == 2222);
  CHECK(lab->hosts[1].ssh_port == 2200);
  CHECK(first.user == "tester");
  CHECK(first.identity == "/key");
  CHECK(lab->control_address == "127.0.0.1");
}

TEST_CASE("a host of several groups is one host") {
  const auto lab = inventory(
      "[a]\nn1 ansible_host=127.0.0.2\n[b]\nn1 ansible_port=2201\n[b:vars]\nansible_user=eve\n");
  REQUIRE(lab);
  REQUIRE(lab->hosts.size() == 1);
  CHECK(lab->hosts[0].ssh_port == 2201);
  CHECK(lab->hosts[0].user == "eve");
}

TEST_CASE("faults that need root are for hosts with a login of root") {
  const auto lab =
      inventory("n1 ansible_host=127.0.0.2\nn2 ansible_host=127.0.0.3 ansible_user=u\n");
  REQUIRE(lab);
  CHECK(lab->abilities[0].root);
  CHECK(lab->abilities[0].packet_filter);
  CHECK_FALSE(lab->abilities[1].root);
  CHECK_FALSE(lab->abilities[1].packet_filter);
}

TEST_CASE("what is not understood is refused with its line") {
  CHECK(error_of("\nn1 ansible_port=0\n") ==
        "hosts.ini:2: ansible_port is \"0\": expected 1 to 65535");
  CHECK(error_of("n1 ansible_port=65536\n") ==
        "hosts.ini:1: ansible_port is \"65536\": expected 1 to 65535");
  CHECK(error_of("n[1:3]\n") ==
        "hosts.ini:1: \"n[1:3]\": give each host a line; ranges are not read");
  CHECK(error_of("n1 ansible_user='me'\n") ==
        "hosts.ini:1: ansible_user='me': quotes are not read; write the value without");
  CHECK(error_of("n1 root\n") == "hosts.ini:1: expected name=value in place of \"root\"");
  CHECK(error_of("# nothing\n") == "hosts.ini: the inventory has no hosts");
}
