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

std::vector<std::string> hosts_of(std::span<const Node> nodes);
std::vector<std::string> addresses_of(std::span<const Node> nodes);

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

// Settings that several targets have.
inline constexpr OptionSpec kPrimaryOption{
    .name = "host",
    .type = OptionType::host,
    .default_value = "",
    .summary = "name of the host that the server (or the primary) runs on; empty: the first"};
inline constexpr OptionSpec kOperationTimeoutOption{
    .name = "operation-timeout",
    .type = OptionType::duration,
    .default_value = "5s",
    .summary = "longest wait for an operation's outcome; after it, the outcome is unknown",
    .minimum = 1};
inline constexpr OptionSpec kFaketimeOption{
    .name = "faketime",
    .type = OptionType::boolean,
    .default_value = "true",
    .summary = "run the server under libfaketime where installed, for faults of the clock"};
constexpr OptionSpec port_option(std::string_view name, std::string_view default_port,
                                 std::string_view summary) {
  return {.name = name,
          .type = OptionType::integer,
          .default_value = default_port,
          .summary = summary,
          .minimum = 1,
          .maximum = 65535};
}

// A member of the group `settings.*`: goes into a configuration file as a line NAME = VALUE, and
// must not become anything else there. `letters` is what names are made of, `ours` are names that
// the target decides, and `file` is the configuration file's name.
Status check_server_setting(std::string_view name, const std::string& value,
                            std::string_view letters, std::span<const std::string_view> ours,
                            std::string_view file);

}  // namespace ordeal
