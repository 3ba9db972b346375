// `lab: netns`: each host is a network, mount, UTS, IPC and PID namespace of this machine, with a
// copy-on-write root, its own /tmp, /run, /dev and /dev/shm, and its own sshd and host key. A
// bridge in a namespace "sw" joins them; "ctl" is the control node's place. The machine's own
// network sees nothing: addresses exist only inside the namespaces, so that all labs use the same
// ones without meeting.
//
// The hosts share the machine's kernel and its clock, which they may not set. They are no
// protection against what runs inside: root there is root.
//
// Network namespaces are named ordeal-LAB-HOST (see ip-netns(8)); neither contains what would make
// this ambiguous, since host names have no hyphen. A process of a lab is known by its network
// namespace, or, while it is on the way there, by an environment variable.
#pragma once

#include <string>
#include <string_view>

#include "orchestrator/lab/lab.h"

namespace ordeal {

// Root and all tools are there; otherwise names what is missing.
Status check_netns_possible();
// The lab is claimed. On failure the caller destroys what was built.
Result<Lab> build_netns_lab(const LabRequest& request, std::stop_token stop);
// Idempotent. The lock is held.
Status destroy_netns_lab(std::string_view name);

std::string netns_name(std::string_view lab, std::string_view host);
// "NAME=value" of processes that build the lab.
std::string netns_mark(std::string_view lab);

inline constexpr std::string_view kNetnsDirectory = "/run/netns";
inline constexpr std::string_view kNetnsMarkVariable = "ORDEAL_LAB";

// Program of a host's first process; and its sshd configuration, to which ListenAddress is added.
extern const std::string_view kHostInit;
extern const std::string_view kSshdConfig;

}  // namespace ordeal
