// Settings of target `postgres`: their table, and what they come to on the hosts of a run.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "targets/nodes.h"

namespace ordeal::postgres {

struct Settings {
  Node primary;
  std::vector<Node> standbys;
  bool synchronous = false;
  std::string version;
  int port = 0;
  std::map<std::string, std::string> server;  // for postgresql.conf
  std::chrono::milliseconds operation_timeout{0};
  bool faketime = true;
};

std::span<const OptionSpec> option_specs();
// bad_input where hosts are named that are not there, or twice, or settings exclude each other.
Result<Settings> read_settings(const TargetInput& input);

}  // namespace ordeal::postgres
