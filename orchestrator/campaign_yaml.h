// The YAML side of campaign files: parsing with places for messages, merging, assigning,
// flattening.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/result.h"

namespace ordeal {

// What a file should be: "a campaign file (see campaigns/)", which is a map with such members.
struct Expected {
  std::string_view file;
  std::string_view members;
};
// The file as a map. bad_input names line and column of what is not YAML, and keys that occur
// twice.
Result<YAML::Node> parse_yaml(const std::filesystem::path& file, const Expected& expected);
// Where the parts of a campaign were given: in the file, in a scenario, or by an argument. A part
// is named by its path, e.g. "target.postgres.port".
class Origin {
 public:
  explicit Origin(std::filesystem::path file) : file_(std::move(file)) {}

  // What is at `path`, and below it, was given at `where`; the last one counts.
  void replaced(std::string path, std::string where);
  // "campaign.yaml:3:5", or an argument such as "--set workers=0". `node` is what stands at `path`
  // in the tree, better its key than its value.
  std::string of(std::string_view path, const YAML::Node& node) const;
  // Of a whole section, for what is wrong with its settings together: the last argument that
  // changed any of it, if there was one.
  std::string of_all(std::string_view path, const YAML::Node& node) const;
  std::string file() const { return file_.string(); }

 private:
  std::filesystem::path file_;
  std::vector<std::pair<std::string, std::string>> replaced_;
};

// {settings: {fsync: off}, hosts: [a, b]} as {"settings.fsync": "off", "hosts": "a, b"}. `path` is
// that of the node; its member `apart` is left out.
Result<Options::Given> flatten(const Origin& origin, const std::string& path,
                               const YAML::Node& node, std::string_view apart = "");
// Lays scenarios[name] over the rest of the campaign; "" changes nothing, and an empty map
// in it empties.
Status merge_scenario(Origin& origin, YAML::Node& root, const std::string& name);
// "a.b.c=value": sets root[a][b][c] to the value, which is YAML, making maps on the way.
Status assign(Origin& origin, YAML::Node& root, const std::string& assignment);
std::string dump(const YAML::Node& root);
bool valid_name(std::string_view name);  // [a-z0-9-]+

}  // namespace ordeal
