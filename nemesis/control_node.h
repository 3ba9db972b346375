// The control node as a host, for the parts of a plan that are to happen there.
#pragma once

#include <functional>
#include <memory>

#include "remote/host.h"

namespace ordeal {

// Runs commands in this process' surroundings; named kControlNode.
std::unique_ptr<Host> make_control_node();

// `step` for the control node, and only then, since it may be what switches hosts on, for all hosts
// at once. A cluster may have a control node of its own.
Status on_control_node(const Cluster& cluster, const std::function<Status(Host&)>& step);
Status control_node_first(const Cluster& cluster, const std::function<Status(Host&)>& step);

}  // namespace ordeal
