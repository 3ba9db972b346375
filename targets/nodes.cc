#include "targets/nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>

namespace ordeal {
namespace {

Node node_of(const Host& host) { return {.host = host.name(), .address = host.spec().address}; }

bool has(std::span<const Node> nodes, const std::string& name) {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const Node& other) { return other.host == name; });
}

}  // namespace

std::vector<std::string> hosts_of(std::span<const Node> nodes) {
  std::vector<std::string> names;
  for (const Node& node : nodes) names.push_back(node.host);
  return names;
}

std::vector<std::string> addresses_of(std::span<const Node> nodes) {
  std::vector<std::string> addresses;
  for (const Node& node : nodes) addresses.push_back(node.address);
  return addresses;
}

Result<Node> NodeFinder::find(const std::string& name) const {
  if (const Host* host = input.cluster.find(name)) return node_of(*host);
  std::vector<std::string> names;
  for (const Host* host : input.cluster.hosts()) names.push_back(host->name());
  return bad_input("target {}: there is no host \"{}\"; hosts are {}", target, name,
                   boost::join(names, ", "));
}

Result<Node> NodeFinder::node_or_first(std::string_view setting) const {
  const auto hosts = input.cluster.hosts();
  if (hosts.empty()) {
    return bad_input("target {} needs a host, and the campaign has none", target);
  }
  const std::string& name = input.options.text(setting);
  if (name.empty()) return node_of(*hosts.front());
  return find(name);
}

Result<std::vector<Node>> NodeFinder::nodes(std::string_view setting, std::span<const Node> taken,
                                            std::string_view taken_by) const {
  std::vector<Node> found;
  for (const std::string& name : input.options.list(setting)) {
    ORDEAL_TRY_ASSIGN(Node node, find(name));
    const bool twice = has(found, name);
    if (twice || has(taken, name)) {
      return bad_input("{}: target {}: {}: host \"{}\" {}; name another host",
                       input.options.where(setting), target, setting, name,
                       twice ? "is named twice" : fmt::format("is {}", taken_by));
    }
    found.push_back(std::move(node));
  }
  return found;
}

Status check_server_setting(std::string_view name, const std::string& value,
                            std::string_view letters, std::span<const std::string_view> ours,
                            std::string_view file) {
  name.remove_prefix(std::string_view("settings.").size());
  if (std::find(ours.begin(), ours.end(), name) != ours.end()) {
    return bad_input("the target's port and host decide this");
  }
  if (name.empty() || name.find_first_not_of(letters) != std::string_view::npos) {
    return bad_input("expected the name of a setting of {}", file);
  }
  if (value.find('\n') == std::string::npos) return {};
  return bad_input("expected a single line");
}

}  // namespace ordeal
