#include "orchestrator/campaign_yaml.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <fstream>
#include <set>

#include "base/names.h"

namespace ordeal {
namespace {

std::string location(const std::string& file, const YAML::Node& node) {
  const YAML::Mark mark = node.IsDefined() ? node.Mark() : YAML::Mark::null_mark();
  if (mark.is_null()) return file;
  return fmt::format("{}:{}:{}", file, mark.line + 1, mark.column + 1);
}

// Aliases can make a small file endless, so its size as a tree is bounded, too.
struct Bounds {
  int depth_left = 32;
  int* nodes_left;
  Bounds deeper() const { return {depth_left - 1, nodes_left}; }
};

// yaml-cpp keeps the first of two equal keys silently; a campaign that says a thing twice is a
// mistake.
Status refuse_duplicates(const std::string& file, const YAML::Node& node, const Bounds& bounds) {
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

Status refuse_duplicates(const std::string& file, const YAML::Node& root) {
  int nodes_left = 20'000;
  return refuse_duplicates(file, root, {.nodes_left = &nodes_left});
}

bool is_within(std::string_view path, std::string_view outer) {
  return path.starts_with(outer) && (path.size() == outer.size() || path[outer.size()] == '.');
}

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

// Copies have no places of their own.
void remember(Origin& origin, const std::string& path, const YAML::Node& key,
              const YAML::Node& value) {
  origin.replaced(path, location(origin.file(), key));
  if (!value.IsMap()) return;
  for (const auto& item : value) {
    remember(origin, joined(path, item.first.Scalar()), item.first, item.second);
  }
}

void overlay(Origin& origin, const std::string& path, YAML::Node base, const YAML::Node& over) {
  for (const auto& item : over) {
    const auto key = item.first.Scalar();
    const std::string inner = joined(path, key);
    // An empty map empties: `faults: {}` means no faults.
    const bool merges = item.second.IsMap() && item.second.size() > 0;
    if (merges && base[key] && base[key].IsMap()) {
      overlay(origin, inner, base[key], item.second);
    } else {
      remember(origin, inner, item.first, item.second);
      base[key] = YAML::Clone(item.second);
    }
  }
}

Status flatten_into(const Origin& origin, const std::string& path, const YAML::Node& node,
                    const std::string& prefix, Options::Given& given, std::string_view apart = "") {
  for (const auto& item : node) {
    const std::string name = prefix + item.first.Scalar();
    if (name == apart) continue;
    const std::string inner = joined(path, item.first.Scalar());
    if (item.second.IsMap()) {
      ORDEAL_TRY(flatten_into(origin, inner, item.second, name + ".", given));
      continue;
    }
    std::string text = item.second.IsScalar() ? item.second.Scalar() : "";
    if (item.second.IsSequence()) {
      for (const auto& element : item.second) {
        if (!element.IsScalar()) {
          return bad_input("{}: {}: expected a list of names", origin.of(inner, element), name);
        }
        text += (text.empty() ? "" : ", ") + element.Scalar();
      }
    }
    given[name] = {text, origin.of(inner, item.first)};
  }
  return {};
}

// Of an assignment. Nothing at all is the empty text, as on any command line.
Result<YAML::Node> parse_value(const std::string& argument, const std::string& text) {
  if (text.empty()) return YAML::Node(text);
  try {
    YAML::Node value = YAML::Load(text);
    ORDEAL_TRY(refuse_duplicates(argument, value));
    return value;
  } catch (const YAML::Exception& error) {
    return bad_input("{}: not valid YAML: {}; quote a text, e.g. key='\"a: b\"'", argument,
                     error.msg);
  }
}

}  // namespace

Result<YAML::Node> parse_yaml(const std::filesystem::path& file, const Expected& expected) {
  std::ifstream stream(file);
  if (!stream || std::filesystem::is_directory(file)) {
    return bad_input("{}: cannot be read; expected {}", file.string(), expected.file);
  }
  try {
    YAML::Node root = YAML::Load(stream);
    if (!root.IsMap()) {
      return bad_input("{}:1:1: expected a map with {}", file.string(), expected.members);
    }
    ORDEAL_TRY(refuse_duplicates(file.string(), root));
    return root;
  } catch (const YAML::Exception& error) {
    return bad_input("{}:{}:{}: not valid YAML: {}", file.string(), error.mark.line + 1,
                     error.mark.column + 1, error.msg);
  }
}

void Origin::replaced(std::string path, std::string where) {
  replaced_.emplace_back(std::move(path), std::move(where));
}

std::string Origin::of(std::string_view path, const YAML::Node& node) const {
  const auto found = std::find_if(replaced_.rbegin(), replaced_.rend(),
                                  [&](const auto& each) { return is_within(path, each.first); });
  if (found != replaced_.rend()) return found->second;
  // A map that came about since something in it was assigned has no place in the file.
  const bool came_about = node.IsDefined() && node.Mark().is_null();
  return came_about ? of_all(path, node) : location(file(), node);
}

std::string Origin::of_all(std::string_view path, const YAML::Node& node) const {
  const auto found = std::find_if(replaced_.rbegin(), replaced_.rend(), [&](const auto& each) {
    return is_within(path, each.first) || is_within(each.first, path);
  });
  return found == replaced_.rend() ? location(file(), node) : found->second;
}

Result<Options::Given> flatten(const Origin& origin, const std::string& path,
                               const YAML::Node& node, std::string_view apart) {
  Options::Given given;
  if (!node.IsDefined() || node.IsNull()) return given;
  if (!node.IsMap()) return bad_input("{}: expected a map of settings", origin.of(path, node));
  ORDEAL_TRY(flatten_into(origin, path, node, "", given, apart));
  return given;
}

Status merge_scenario(Origin& origin, YAML::Node& root, const std::string& name) {
  const YAML::Node scenarios = root["scenarios"];
  if (name.empty()) return {};
  if (scenarios && scenarios.IsMap() && scenarios[name] && scenarios[name].IsMap()) {
    overlay(origin, "", root, scenarios[name]);
    return {};
  }
  std::vector<std::string> names;
  if (scenarios && scenarios.IsMap()) {
    for (const auto& item : scenarios) names.push_back(item.first.Scalar());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  return bad_input("{}: {}", origin.file(), unknown_name("scenario", name, known));
}

Status assign(Origin& origin, YAML::Node& root, const std::string& assignment) {
  const std::string argument = "--set " + assignment;
  const auto equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    return bad_input("{}: expected key=value, e.g. workers=20", argument);
  }
  const std::string key = assignment.substr(0, equals);
  ORDEAL_TRY_ASSIGN(const YAML::Node value, parse_value(argument, assignment.substr(equals + 1)));
  std::vector<std::string> path;
  boost::split(path, key, boost::is_any_of("."));
  YAML::Node node = root;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (node[path[i]] && !node[path[i]].IsMap() && !node[path[i]].IsNull()) {
      return bad_input("{}: {} is no map", argument, path[i]);
    }
    YAML::Node next = node[path[i]];
    node.reset(next);
  }
  node[path.back()] = value;
  origin.replaced(key, argument);
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
