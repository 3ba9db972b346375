// The programs of Ansible: what they say, in one line, and that they are there.
#include "orchestrator/ansible.h"

#include <catch2/catch.hpp>

using namespace ordeal;

TEST_CASE("the words of the inventory's own format are taken from all that Ansible says") {
  const std::string output =
      "[WARNING]:  * Failed to parse /a/hosts.ini with yaml plugin: We were unable to\n"
      "read either as JSON nor YAML\n"
      "[WARNING]:  * Failed to parse /a/hosts.ini with ini plugin: /a/hosts.ini:2:\n"
      "Expected key=value host variable assignment in a well-\n"
      "formed line, got: root\n"
      "ERROR! Completely failed to parse inventory source /a/hosts.ini\n";
  CHECK(ansible_words(output, "ini") ==
        "/a/hosts.ini:2: Expected key=value host variable assignment in a well-formed line, got: "
        "root");
  CHECK(ansible_words(output, "yaml") == "We were unable to read either as JSON nor YAML");
  CHECK(ansible_words("[WARNING]: a\nERROR! b\nc\n", "ini") == "b c");
  CHECK(ansible_words("anything\n", "ini") == "anything");
}

TEST_CASE("a program that is not there is named, with its package") {
  CHECK(check_ansible("ansible-inventory"));
  const Status missing = check_ansible("ansible-nothing");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == ErrorKind::surroundings);
  CHECK(missing.error().message.find("ansible-nothing is not installed") == 0);
  CHECK(missing.error().message.find("package ansible-core") != std::string::npos);
}
