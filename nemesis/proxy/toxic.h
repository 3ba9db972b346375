// What a toxic is: a fault of one direction of a leg's connections, in toxiproxy's vocabulary. The
// catalogue (toxic_catalog) is the table of all types, with their attributes, bounds and defaults.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ordeal::proxy {

// Upstream: from the client to the server. Downstream: from the server to the client.
enum class Direction { upstream, downstream };

std::string_view direction_name(Direction direction);
Result<Direction> parse_direction(std::string_view text);

using Attributes = std::map<std::string, double, std::less<>>;

struct Toxic {
  std::string name;  // unique on its leg; empty: <type>_<direction>
  std::string type;  // one of the catalogue
  Direction direction = Direction::downstream;
  double toxicity = 1;    // the probability that a connection is affected at all
  Attributes attributes;  // what is not given has its default
};

struct AttributeSpec {
  std::string_view name;
  std::string_view summary;  // with its unit
  double default_value = 0;
  double minimum = 0;
  double maximum = 1e12;
  bool whole = true;  // an integer
};

// What users see of a type; toxics/catalog.h also makes its stages.
struct ToxicType {
  std::string_view name;
  std::string_view summary;
  std::span<const AttributeSpec> attributes;
  // Whether bytes may be lost on a connection that goes on.
  bool lossy = false;
};

std::vector<ToxicType> toxic_types();

// The toxic with its name and all attributes filled in. bad_input names the type, attribute or
// value that is wrong, and says what would be right.
Result<Toxic> completed(Toxic toxic);

}  // namespace ordeal::proxy
