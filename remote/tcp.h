// A TCP connection with a time-out on every step, for SshSession.
#pragma once

#include "remote/ssh_session.h"
#include "remote/unique_fd.h"

namespace ordeal {

// Connected, non-blocking, closed on exec, and with keepalives that notice a dead peer within about
// 15 s. The error says whether resolving or connecting failed.
Result<UniqueFd> connect_tcp(const HostSpec& spec, const Patience& patience);

}  // namespace ordeal
