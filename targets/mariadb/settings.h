// Settings of target `mariadb`: their table, and what they come to on the hosts of a run.
#pragma once

#include <chrono>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "targets/nodes.h"

namespace ordeal::mariadb {

struct Settings {
  std::vector<Node> nodes;  // the server or the primary, then replicas; or Galera's members
  bool galera = false;
  bool semi_sync = false;
  std::string version;
  int port = 0;
  std::map<std::string, std::string> server;  // for my.cnf
  std::chrono::milliseconds operation_timeout{0};
  bool faketime = true;

  bool replicated() const { return !galera && nodes.size() > 1; }
};

std::span<const OptionSpec> option_specs();
// bad_input where hosts are named that are not there, or twice, or settings exclude each other.
Result<Settings> read_settings(const TargetInput& input);

}  // namespace ordeal::mariadb
