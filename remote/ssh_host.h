// A host reached over SSH (libssh): strictly checked host keys, login by key file or agent, a
// time-out on every step, and a small pool of sessions, so that concurrent calls don't wait for
// each other.
#pragma once

#include <memory>

#include "remote/host.h"

namespace ordeal {

// Connects on first use. Sessions stay open until the host is destroyed.
//
// A command that times out or is stopped is killed with its process group on the host, as far as
// the host can still be reached. A lost connection is replaced where the command had not been sent
// yet; otherwise run() returns the error, since whether the command ran is not known.
std::unique_ptr<Host> make_ssh_host(HostSpec spec, HostAbilities abilities);

}  // namespace ordeal
