// Ansible inventories: what is read from which place, and what is refused, in whose words.
#include "orchestrator/inventory.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/support/temporary_directory.h"

using namespace ordeal;

namespace {

class Folder {
 public:
  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((directory_.path() / name).parent_path());
    std::ofstream(directory_.path() / name) << text;
  }
  Result<Inventory> read(const std::string& name) const {
    return read_inventory(directory_.path() / name);
  }
  std::filesystem::path path() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
};

Result<Inventory> inventory(const std::string& text, const std::string& name = "hosts.ini") {
  const Folder folder;
  folder.write(name, text);
  return folder.read(name);
}

// Without the directory, which differs each time.
std::string error_of(const std::string& text, const std::string& name = "hosts.ini") {
  const auto read = inventory(text, name);
  REQUIRE_FALSE(read);
  CHECK(read.error().kind == ErrorKind::bad_input);
  return read.error().message.substr(read.error().message.find(name));
}

void contains(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("a host's own variables come before its groups', and those before everybody's") {
  const auto read = inventory(
      "[db]\n"
      "n1 ansible_host=127.0.0.2 ansible_port=2222  # a comment\n"
      "n2 ansible_host=127.0.0.3\n"
      "[db:vars]\n"
      "ansible_port=2200\n"
      "ansible_user='tester'\n"
      "[all:vars]\n"
      "ansible_user=nobody\n"
      "ansible_ssh_private_key_file=/key\n"
      "[everything:children]\n"
      "db\n");
  REQUIRE(read);
  REQUIRE(read->lab.hosts.size() == 2);
  const HostSpec& first = read->lab.hosts[0];
  CHECK(first.name == "n1");
  CHECK(first.address == "127.0.0.2");
  CHECK(first.ssh_port == 2222);
  CHECK(read->lab.hosts[1].ssh_port == 2200);
  CHECK(first.user == "tester");
  CHECK(first.identity == "/key");
  CHECK(first.directory == "/var/lib/ordeal");
  CHECK(first.proxy_command.empty());
  CHECK(read->lab.control_address == "127.0.0.1");
  CHECK(read->groups == std::map<std::string, std::vector<std::string>>{
                            {"db", {"n1", "n2"}}, {"everything", {"n1", "n2"}}});
}

TEST_CASE("faults that need root are for hosts with a login of root") {
  const auto read =
      inventory("n1 ansible_host=127.0.0.2\nn2 ansible_host=127.0.0.3 ansible_user=u\n");
  REQUIRE(read);
  CHECK(read->lab.abilities[0].root);
  CHECK(read->lab.abilities[0].packet_filter);
  CHECK_FALSE(read->lab.abilities[1].root);
  CHECK_FALSE(read->lab.abilities[1].packet_filter);
}

TEST_CASE("ranges, and variables from files beside the inventory") {
  const Folder folder;
  folder.write("hosts.ini", "[db]\nn[1:3]\n[replica]\nn3\nn9\n");
  folder.write("group_vars/db.yml", "ansible_port: 2201\nansible_host: 127.0.0.2\n");
  folder.write("group_vars/all", "ansible_user: \"me\"\nansible_host: 127.0.0.9\n");
  folder.write("host_vars/n2.yml", "ansible_port: 2202\nordeal_directory: /data\n");
  const auto read = folder.read("hosts.ini");
  REQUIRE(read);
  REQUIRE(read->lab.hosts.size() == 4);
  CHECK(read->lab.hosts[0].name == "n1");
  CHECK(read->lab.hosts[2].ssh_port == 2201);
  CHECK(read->lab.hosts[1].ssh_port == 2202);
  CHECK(read->lab.hosts[1].directory == "/data");
  CHECK(read->lab.hosts[3].name == "n9");
  CHECK(read->lab.hosts[3].user == "me");
  CHECK(read->groups.at("replica") == std::vector<std::string>{"n3", "n9"});
}

TEST_CASE("an inventory in YAML") {
  const auto read = inventory(
      "all:\n"
      "  vars: {ansible_user: me}\n"
      "  children:\n"
      "    site:\n"
      "      children:\n"
      "        db: {hosts: {n1: {ansible_host: 127.0.0.2, ansible_port: 2222}}}\n"
      "        empty: {}\n",
      "hosts.yaml");
  REQUIRE(read);
  REQUIRE(read->lab.hosts.size() == 1);
  CHECK(read->lab.hosts[0].address == "127.0.0.2");
  CHECK(read->lab.hosts[0].ssh_port == 2222);
  CHECK(read->lab.hosts[0].user == "me");
  CHECK(read->groups.at("site") == std::vector<std::string>{"n1"});
  CHECK(read->groups.at("empty").empty());
}

TEST_CASE("the example") {
  const auto read = read_inventory("ansible/inventory.example.ini");
  INFO((read ? std::string() : read.error().message));
  REQUIRE(read);
  CHECK(read->groups.at("postgres") == std::vector<std::string>{"n1", "n2", "n3"});
  CHECK(read->groups.at("standbys") == std::vector<std::string>{"n2", "n3"});
  CHECK(read->lab.hosts[0].ssh_port == 22);
  CHECK(read->lab.hosts[2].ssh_port == 2222);
  CHECK(read->lab.hosts[2].identity.filename() == "id_ed25519");
}

TEST_CASE("passwords are known, so that they can be kept out of logs") {
  const auto read = inventory(
      "n1 ansible_host=127.0.0.2 ansible_become_password=\"two words\"\n"
      "n2 ansible_host=127.0.0.3 db_secrets='{\"a\": [\"deep\"]}'\n");
  REQUIRE(read);
  CHECK(read->secrets == std::vector<std::string>{"two words", "deep"});
  CHECK(read->can_become == std::set<std::string>{"n1"});
}

TEST_CASE("jump hosts") {
  const auto way = [](const std::string& arguments, const std::string& more = "") {
    const auto read =
        inventory("n1 ansible_host=127.0.0.2 ansible_port=2222 ordeal_known_hosts=/k " + more +
                  " ansible_ssh_common_args='" + arguments + "'\n");
    INFO((read ? std::string() : read.error().message));
    REQUIRE(read);
    return read->lab.hosts[0].proxy_command;
  };
  const std::string ssh =
      "ssh -o 'BatchMode=yes' -o 'StrictHostKeyChecking=yes' -o 'ConnectTimeout=10' -o "
      "'UserKnownHostsFile=\"/k\"' ";
  CHECK(way("-o ProxyJump=me@bastion:23") == ssh + "-p 23 -l me -W 127.0.0.2:2222 -- bastion");
  CHECK(way("-C -J bastion -o ProxyCommand=no", "ansible_ssh_private_key_file=/id") ==
        ssh + "-i /id -W 127.0.0.2:2222 -- bastion");
  CHECK(way("-oProxyJump=none").empty());
  CHECK(way("-o ServerAliveInterval=5").empty());
  CHECK(way("-o ProxyCommand=\"ssh -W %h:%p -q %r@gateway -o X=100%%\"") ==
        "ssh -W 127.0.0.2:2222 -q root@gateway -o X=100%");
  const std::string two = way("-J a,[::1]:24");
  contains(two, "-p 24 -W 127.0.0.2:2222 -- ::1");
  contains(two, "ProxyCommand=ssh -o ");
  contains(two, "-W '\\''[::1]:24'\\'' -- a");
}

TEST_CASE("what is not understood is refused, by Ansible with its line") {
  contains(error_of("n1\n\nn2 root\n"), "hosts.ini:3: Expected key=value host variable assignment");
  contains(error_of("n1 root\n"), "hosts.ini: the inventory cannot be read: ");
  contains(error_of("[db:children]\nnone\n"), "undefined group");
  contains(error_of("all: {hosts: [\n", "hosts.yaml"), "line 2, column 1");
  CHECK(error_of("# nothing\n") == "hosts.ini: the inventory has no hosts");
  CHECK(error_of("\nn1 ansible_port=0\n") ==
        "hosts.ini: host n1: ansible_port is \"0\": expected 1 to 65535");
  CHECK(error_of("n1 ansible_port=65536\n") ==
        "hosts.ini: host n1: ansible_port is \"65536\": expected 1 to 65535");
  CHECK(
      error_of("n1 ansible_host='{{ ip }}'\n") ==
      "hosts.ini: host n1: ansible_host is the template \"{{ ip }}\", which only a playbook fills "
      "in; write the value");
  CHECK(error_of("n1 ansible_connection=local\n") ==
        "hosts.ini: host n1: ansible_connection is local, and hosts are reached by ssh only");
  contains(error_of("n1 ansible_ssh_common_args='-J a,'\n"), "host n1: \"\" is no jump host");
  contains(error_of("n1 ansible_ssh_common_args='-o ProxyCommand=\"ssh -o StrictHostKeyChecking=no "
                    "-W %h:%p b\"'\n"),
           "does not check the jump host's key");
  const Folder folder;
  contains(folder.read("none.ini").error().message,
           "none.ini: the inventory cannot be read: there");
}
