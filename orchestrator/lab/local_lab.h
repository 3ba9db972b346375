// `lab: local`: no root, no SSH. Each host is an address of the loopback network, of its own for
// each host of each lab, and a directory; servers are plain processes of this machine.
#pragma once

#include "orchestrator/lab/lab.h"

namespace ordeal {

// The lab is claimed. Makes the hosts' directories and picks addresses.
Result<Lab> build_local_lab(const LabRequest& request);
// Ends the servers: everything that was started through a host of the lab, and daemons that work in
// its directories.
Status destroy_local_lab(std::string_view name);

}  // namespace ordeal
