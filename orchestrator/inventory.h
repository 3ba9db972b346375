// Hosts that the user has, from an Ansible inventory in any form that Ansible reads (INI, YAML,
// JSON, a program, a directory of these), with its group_vars and host_vars. Ansible itself reads
// it: program ansible-inventory, package ansible-core.
//
// Of a host count ansible_host, ansible_port, ansible_user, ansible_ssh_private_key_file, a jump
// host in ansible_ssh_common_args or ansible_ssh_extra_args, ordeal_known_hosts and
// ordeal_directory.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"
#include "orchestrator/lab/lab.h"

namespace ordeal {

struct Inventory {
  // Of kind "inventory"; what its hosts can do is assumed from the login user.
  Lab lab;
  // Each group's hosts, those of the groups in it included; without `all` and `ungrouped`.
  std::map<std::string, std::vector<std::string>> groups;
  std::map<std::string, std::string> ssh_arguments;  // of each host, as Ansible gives them to ssh
  // Hosts for which there is what Ansible needs to become root, other than sudo without a password.
  std::set<std::string> can_become;
  // Passwords and the like among the variables: they must not be written anywhere.
  std::vector<std::string> secrets;
};

// bad_input is in Ansible's own words where it refuses the file, else names host and variable;
// surroundings where Ansible is not installed.
Result<Inventory> read_inventory(const std::filesystem::path& file, std::stop_token stop = {});

}  // namespace ordeal
