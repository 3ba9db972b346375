// Hosts that a target's settings name, found among those of the run; and checks of settings that
// several targets have.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "targets/target.h"

namespace ordeal {

struct Node {
  std::string host;
  std::string address;
};

// What reads a target's settings: its name, for messages, and what it was given.
struct NodeFinder {
  std::string_view target;
  const TargetInput& input;

  // That the setting names; an empty setting means the first host.
  Result<Node> node_or_first(std::string_view setting) const;
  // Those that the setting lists. bad_input where one is not there, is named twice, or is among
  // `taken`, whose hosts are `taken_by`.
  Result<std::vector<Node>> nodes(std::string_view setting, std::span<const Node> taken,
                                  std::string_view taken_by) const;

 private:
  Result<Node> find(const std::string& name) const;
};

// A member of the group `settings.*`: goes into a configuration file as a line NAME = VALUE, and
// must not become anything else there. `letters` is what names are made of, `ours` are names that
// the target decides, and `file` is the configuration file's name.
Status check_server_setting(std::string_view name, const std::string& value,
                            std::string_view letters, std::span<const std::string_view> ours,
                            std::string_view file);

}  // namespace ordeal
