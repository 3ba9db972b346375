#include "nemesis/control_node.h"

#include "remote/local_host.h"
#include "targets/target.h"

namespace ordeal {

std::unique_ptr<Host> make_control_node() {
  HostSpec spec;
  spec.name = kControlNode;
  spec.local = true;
  return make_local_host(std::move(spec), {});
}

Status on_control_node(const Cluster& cluster, const std::function<Status(Host&)>& step) {
  if (Host* own = cluster.find(kControlNode); own != nullptr) return step(*own);
  return step(*make_control_node());
}

Status control_node_first(const Cluster& cluster, const std::function<Status(Host&)>& step) {
  ORDEAL_TRY(on_control_node(cluster, step));
  return cluster.for_each(
      [&](Host& host) { return host.name() == kControlNode ? Status{} : step(host); });
}

}  // namespace ordeal
