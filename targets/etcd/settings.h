// Settings of target `etcd`: their table, and what they come to on the hosts of a run.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "targets/nodes.h"
#include "targets/target.h"

namespace ordeal::etcd {

struct Settings {
  std::vector<Node> members;
  std::string version;  // that must be installed: "3.4" also means 3.4.23
  int port = 0;
  int peer_port = 0;
  std::chrono::milliseconds heartbeat_interval{0};
  std::chrono::milliseconds election_timeout{0};
  bool serializable_reads = false;
  std::map<std::string, std::string> flags;  // of the program, without their hyphens
  std::chrono::milliseconds operation_timeout{0};
};

std::span<const OptionSpec> option_specs();
// bad_input where hosts are named that are not there, or twice, or settings exclude each other.
Result<Settings> read_settings(const TargetInput& input);

}  // namespace ordeal::etcd
