// Hosts that the user prepared, from an Ansible inventory in INI form: host lines with
// ansible_host, ansible_port, ansible_user and ansible_ssh_private_key_file, in any group, and
// [all:vars].
#pragma once

#include <filesystem>

#include "base/result.h"
#include "orchestrator/lab/lab.h"

namespace ordeal {

// As a Lab of kind "inventory"; what its hosts can do is assumed from the login user. bad_input
// names the line that makes no sense.
Result<Lab> read_inventory(const std::filesystem::path& file);

}  // namespace ordeal
