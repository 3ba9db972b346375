// Running the programs of Ansible (package ansible-core) on this machine.
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace ordeal {

// surroundings, with the package that has it, where the program is not installed.
Status check_ansible(const std::string& program);
// What all of its programs are run with: output for programs to read, and mistakes as errors.
std::map<std::string, std::string> ansible_environment();
// Its messages on stderr, which it breaks into lines of 79 columns, in one line: that of the
// inventory's own format ("yaml" or "ini") where each format had something to say.
std::string ansible_words(const std::string& output, const std::string& format);

}  // namespace ordeal
