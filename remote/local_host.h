// A host of `lab: local`: plain processes of this machine, run by the user of this process.
#pragma once

#include <memory>

#include "remote/host.h"

namespace ordeal {

// Environment variable given to every process of a local host: HostSpec::directory. Servers inherit
// it, which is how they are found again when the lab is taken down.
inline constexpr const char* kHostDirectoryVariable = "ORDEAL_HOST_DIRECTORY";

// Commands run by `sh -c` in a process group of their own, with no file descriptor inherited but
// the standard streams; a command that times out or is stopped is killed with its group.
std::unique_ptr<Host> make_local_host(HostSpec spec, HostAbilities abilities);

}  // namespace ordeal
