#include "nemesis/proxy/toxics/catalog.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace ordeal::proxy {
namespace {

template <class Range>
std::string names_of(const Range& range) {
  std::vector<std::string_view> names;
  for (const auto& each : range) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Status check_attribute(const ToxicEntry& entry, const AttributeSpec& spec, double value) {
  const bool fits = value >= spec.minimum && value <= spec.maximum &&
                    (!spec.whole || std::nearbyint(value) == value);
  if (fits) return {};
  return bad_input("toxic {}: {} is {}; expected {} from {} to {} ({})", entry.name, spec.name,
                   value, spec.whole ? "a whole number" : "a number", spec.minimum, spec.maximum,
                   spec.summary);
}

Status check_names(const ToxicEntry& entry, const Attributes& given) {
  for (const auto& [name, value] : given) {
    const bool known =
        std::any_of(entry.attributes.begin(), entry.attributes.end(),
                    [&name = name](const AttributeSpec& spec) { return spec.name == name; });
    if (!known) {
      return bad_input("toxic {}: it has no attribute {}; known are {}", entry.name, name,
                       names_of(entry.attributes));
    }
  }
  return {};
}

Status complete_attributes(const ToxicEntry& entry, Attributes& attributes) {
  ORDEAL_TRY(check_names(entry, attributes));
  for (const AttributeSpec& spec : entry.attributes) {
    const auto [place, missing] = attributes.emplace(spec.name, spec.default_value);
    ORDEAL_TRY(check_attribute(entry, spec, place->second));
  }
  return entry.check == nullptr ? Status() : entry.check(attributes);
}

}  // namespace

const std::vector<ToxicEntry>& toxic_catalog() {
  static const std::vector<ToxicEntry> catalog = {
      latency_toxic(), bandwidth_toxic(),  slow_close_toxic(), timeout_toxic(), reset_peer_toxic(),
      slicer_toxic(),  limit_data_toxic(), half_open_toxic(),  loss_toxic(),
  };
  return catalog;
}

const ToxicEntry* find_toxic_type(std::string_view type) {
  for (const ToxicEntry& entry : toxic_catalog()) {
    if (entry.name == type) return &entry;
  }
  return nullptr;
}

std::vector<ToxicType> toxic_types() { return {toxic_catalog().begin(), toxic_catalog().end()}; }

std::string_view direction_name(Direction direction) {
  return direction == Direction::upstream ? "upstream" : "downstream";
}

Result<Direction> parse_direction(std::string_view text) {
  if (text == "upstream") return Direction::upstream;
  if (text == "downstream") return Direction::downstream;
  return bad_input("stream was invalid, can be either upstream or downstream, but is \"{}\"", text);
}

Result<Toxic> completed(Toxic toxic) {
  const ToxicEntry* entry = find_toxic_type(toxic.type);
  if (entry == nullptr) {
    return bad_input("invalid toxic type \"{}\"; known are {}", toxic.type,
                     names_of(toxic_catalog()));
  }
  if (!(toxic.toxicity >= 0 && toxic.toxicity <= 1)) {
    return bad_input("toxic {}: toxicity is {}; expected a number from 0 to 1", toxic.type,
                     toxic.toxicity);
  }
  ORDEAL_TRY(complete_attributes(*entry, toxic.attributes));
  if (toxic.name.empty()) {
    toxic.name = fmt::format("{}_{}", toxic.type, direction_name(toxic.direction));
  }
  return toxic;
}

}  // namespace ordeal::proxy
