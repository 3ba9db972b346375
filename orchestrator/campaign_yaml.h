// The YAML side of campaign files: parsing with places for messages, merging, assigning,
// flattening.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/options.h"
#include "base/result.h"

namespace ordeal {

// The file as a map. bad_input names line and column of what is not YAML, and keys that occur
// twice.
Result<YAML::Node> parse_yaml(const std::filesystem::path& file);
// "campaign.yaml:3:5"; "--set" for a node that came from the command line.
std::string location(const std::filesystem::path& file, const YAML::Node& node);
// {settings: {fsync: off}, hosts: [a, b]} as {"settings.fsync": "off", "hosts": "a, b"}.
Result<Options::Given> flatten(const std::filesystem::path& file, const YAML::Node& node);
// Lays scenarios[name] over the rest of the campaign; "" changes nothing, and an empty map
// in it empties.
Status merge_scenario(const std::filesystem::path& file, YAML::Node& root, const std::string& name);
// "a.b.c=text": sets root[a][b][c], making maps on the way.
Status assign(YAML::Node& root, const std::string& assignment);
std::string dump(const YAML::Node& root);
bool valid_name(std::string_view name);  // [a-z0-9-]+

}  // namespace ordeal
