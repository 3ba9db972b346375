#include "orchestrator/campaign_yaml.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <fstream>
#include <set>

#include "base/names.h"

namespace ordeal {
namespace {

// yaml-cpp keeps the first of two equal keys silently; a campaign that says a thing twice is a
// mistake.
// Aliases can make a small file endless, so its size as a tree is bounded, too.
struct Bounds {
  int depth_left = 32;
  int* nodes_left;
  Bounds deeper() const { return {depth_left - 1, nodes_left}; }
};

Status refuse_duplicates(const std::filesystem::path& file, const YAML::Node& node,
                         const Bounds& bounds) {
  if (bounds.depth_left == 0 || --*bounds.nodes_left < 0) {
    return bad_input("{}: nested too deeply for a campaign; an alias (*name) may contain itself",
                     location(file, node));
  }
  if (node.IsSequence()) {
    for (const auto& item : node) ORDEAL_TRY(refuse_duplicates(file, item, bounds.deeper()));
  }
  if (!node.IsMap()) return {};
  std::set<std::string> seen;
  for (const auto& item : node) {
    if (!item.first.IsScalar()) {
      return bad_input("{}: expected a name as the key", location(file, item.first));
    }
    if (!seen.insert(item.first.Scalar()).second) {
      return bad_input("{}: \"{}\" is given twice", location(file, item.first),
                       item.first.Scalar());
    }
    ORDEAL_TRY(refuse_duplicates(file, item.second, bounds.deeper()));
  }
  return {};
}

void overlay(YAML::Node base, const YAML::Node& over) {
  for (const auto& item : over) {
    const auto key = item.first.Scalar();
    // An empty map empties: `faults: {}` means no faults.
    const bool merges = item.second.IsMap() && item.second.size() > 0;
    if (merges && base[key] && base[key].IsMap()) {
      overlay(base[key], item.second);
    } else {
      base[key] = YAML::Clone(item.second);
    }
  }
}

Status flatten_into(const std::filesystem::path& file, const YAML::Node& node,
                    const std::string& prefix, Options::Given& given) {
  for (const auto& item : node) {
    const std::string name = prefix + item.first.Scalar();
    if (item.second.IsMap()) {
      ORDEAL_TRY(flatten_into(file, item.second, name + ".", given));
      continue;
    }
    std::string text = item.second.IsScalar() ? item.second.Scalar() : "";
    if (item.second.IsSequence()) {
      for (const auto& element : item.second) {
        if (!element.IsScalar()) {
          return bad_input("{}: {}: expected a list of names", location(file, element), name);
        }
        text += (text.empty() ? "" : ", ") + element.Scalar();
      }
    }
    given[name] = {text, location(file, item.first)};
  }
  return {};
}

}  // namespace

Result<YAML::Node> parse_yaml(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) {
    return bad_input("{}: cannot be read; expected a campaign file (see campaigns/)",
                     file.string());
  }
  try {
    YAML::Node root = YAML::Load(stream);
    if (!root.IsMap()) {
      return bad_input("{}:1:1: expected a map with target, workload, ...", file.string());
    }
    int nodes_left = 20'000;
    ORDEAL_TRY(refuse_duplicates(file, root, {.nodes_left = &nodes_left}));
    return root;
  } catch (const YAML::Exception& error) {
    return bad_input("{}:{}:{}: not valid YAML: {}", file.string(), error.mark.line + 1,
                     error.mark.column + 1, error.msg);
  }
}

std::string location(const std::filesystem::path& file, const YAML::Node& node) {
  if (!node.IsDefined()) return file.string();
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return "--set";
  return fmt::format("{}:{}:{}", file.string(), mark.line + 1, mark.column + 1);
}

Result<Options::Given> flatten(const std::filesystem::path& file, const YAML::Node& node) {
  Options::Given given;
  if (!node.IsDefined() || node.IsNull()) return given;
  if (!node.IsMap()) return bad_input("{}: expected a map of settings", location(file, node));
  ORDEAL_TRY(flatten_into(file, node, "", given));
  return given;
}

Status merge_scenario(const std::filesystem::path& file, YAML::Node& root,
                      const std::string& name) {
  const YAML::Node scenarios = root["scenarios"];
  if (name.empty()) return {};
  if (scenarios && scenarios.IsMap() && scenarios[name] && scenarios[name].IsMap()) {
    overlay(root, YAML::Clone(scenarios[name]));
    return {};
  }
  std::vector<std::string> names;
  if (scenarios && scenarios.IsMap()) {
    for (const auto& item : scenarios) names.push_back(item.first.Scalar());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return bad_input("{}: {}", file.string(), unknown_name("scenario", name, known));
}

Status assign(YAML::Node& root, const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return bad_input("--set {}: expected key=value, e.g. workers=20", assignment);
  }
  std::vector<std::string> path;
  const std::string key = assignment.substr(0, equals);
  boost::split(path, key, boost::is_any_of("."));
  YAML::Node node = root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (node[path[i]] && !node[path[i]].IsMap() && !node[path[i]].IsNull()) {
      return bad_input("--set {}: {} is no map", assignment, path[i]);
    }
    YAML::Node next = node[path[i]];
    node.reset(next);
  }
  node[path.back()] = assignment.substr(equals + 1);
  return {};
}

std::string dump(const YAML::Node& root) {
  YAML::Emitter emitter;
  emitter << root;
  return std::string(emitter.c_str()) + "\n";
}

bool valid_name(std::string_view name) {
  return !name.empty() &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

}  // namespace ordeal
