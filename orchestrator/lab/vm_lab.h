// `lab: vm`: each host is a guest with a kernel of its own, run by qemu or by User-Mode Linux
// (vm_backend.h), on the network of scaffold.h: own clock, own packet filter and queues, and a
// power switch (guest.h). What a guest writes goes into a layer of its own, in the lab's scratch
// directory, over the image that all share (guest_image.h).
#pragma once

#include "orchestrator/lab/lab.h"

namespace ordeal {

// Root and all tools that every backend needs are there; otherwise names what is missing.
Status check_vm_possible();
// The lab is claimed. On failure the caller destroys what was built.
Result<Lab> build_vm_lab(const LabRequest& request, std::stop_token stop);

}  // namespace ordeal
