// Jump hosts, as inventories give them: among the arguments for ssh.
#pragma once

#include <string>

#include "base/result.h"
#include "remote/host.h"

namespace ordeal {

// HostSpec::proxy_command from arguments for ssh (ansible_ssh_common_args and the like): from the
// first of `-J`, `-o ProxyJump=` and `-o ProxyCommand=`; "" where there is none. Jump hosts are
// logged in to with the host's key or one that ssh itself knows, and their host keys are checked
// against the host's known_hosts. bad_input says what makes no sense, or would not check host keys.
Result<std::string> proxy_command_of(const std::string& ssh_arguments, const HostSpec& host);

}  // namespace ordeal
