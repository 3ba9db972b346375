// `lab: netns`: each host is a network, mount, UTS, IPC and PID namespace of this machine, with a
// copy-on-write root, its own /tmp, /run, /dev and /dev/shm, and its own sshd and host key, on the
// network of scaffold.h.
//
// The hosts share the machine's kernel and its clock, which they may not set. They are no
// protection against what runs inside: root there is root.
#pragma once

#include <string_view>

#include "orchestrator/lab/lab.h"

namespace ordeal {

// Root and all tools are there; otherwise names what is missing.
Status check_netns_possible();
// The lab is claimed. On failure the caller destroys what was built.
Result<Lab> build_netns_lab(const LabRequest& request, std::stop_token stop);

// Program of a host's first process.
extern const std::string_view kHostInit;

}  // namespace ordeal
