#include "checkers/cycles/models.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <string>

#include "checkers/cycles/model_table.h"

namespace ordeal::cycles {
namespace {

constexpr std::size_t kModelCount = std::size(kModels);
constexpr std::size_t kAnomalyCount = std::size(kAnomalies);
using ModelSet = std::uint64_t;
using AnomalySet = std::uint64_t;
static_assert(kModelCount <= 64 && kAnomalyCount <= 64);

constexpr std::size_t kNotFound = ~std::size_t{0};

std::size_t model_id(std::string_view name) {
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if (kModels[id].name == name) return id;
  }
  return kNotFound;
}

std::size_t anomaly_id(std::string_view name) {
  for (std::size_t id = 0; id < kAnomalyCount; ++id) {
    if (kAnomalies[id].anomaly == name) return id;
  }
  return kNotFound;
}

template <class Visit>
void for_each_name(Names names, Visit&& visit) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    visit(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

AnomalySet implied_by(std::string_view anomaly) {
  const std::size_t id = anomaly_id(anomaly);
  if (id == kNotFound) return 0;
  AnomalySet result = AnomalySet{1} << id;
  for_each_name(kAnomalies[id].implies, [&](std::string_view name) { result |= implied_by(name); });
  return result;
}

struct Tables {
  std::array<ModelSet, kModelCount>
      implied{};  // models that hold where this one does, itself included
  std::array<AnomalySet, kModelCount> forbidden{};  // directly
  std::array<AnomalySet, kAnomalyCount> implied_anomalies{};
};

Tables make_tables() {
  Tables tables;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    tables.implied[id] = ModelSet{1} << id;
    // A model stands in the table after those that it implies, so one pass closes the relation.
    for_each_name(kModels[id].implies, [&](std::string_view name) {
      assert(model_id(name) < id);
      tables.implied[id] |= tables.implied[model_id(name)];
    });
    for_each_name(kModels[id].forbids, [&](std::string_view name) {
      assert(anomaly_id(name) != kNotFound);
      tables.forbidden[id] |= AnomalySet{1} << anomaly_id(name);
    });
  }
  for (std::size_t id = 0; id < kAnomalyCount; ++id) {
    tables.implied_anomalies[id] = implied_by(kAnomalies[id].anomaly);
  }
  return tables;
}

const Tables& tables() {
  static const Tables kTables = make_tables();
  return kTables;
}

ModelSet ruled_out(AnomalySet anomalies) {
  ModelSet directly = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if ((tables().forbidden[id] & anomalies) != 0) directly |= ModelSet{1} << id;
  }
  ModelSet result = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if ((tables().implied[id] & directly) != 0) result |= ModelSet{1} << id;
  }
  return result;
}

AnomalySet with_implied(std::string_view anomaly) {
  const std::size_t id = anomaly_id(anomaly);
  return id == kNotFound ? 0 : tables().implied_anomalies[id];
}

bool is_in(ModelSet set, std::size_t id) { return (set >> id & 1U) != 0; }

std::vector<std::string> names_of(ModelSet set) {
  std::vector<std::string> names;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if (is_in(set, id)) names.emplace_back(kModels[id].name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Those that imply no other member.
ModelSet weakest(ModelSet set) {
  ModelSet result = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    const ModelSet self = ModelSet{1} << id;
    if (is_in(set, id) && (tables().implied[id] & set) == self) result |= self;
  }
  return result;
}

// Those that no other member implies.
ModelSet strongest(ModelSet set) {
  ModelSet covered = 0;
  for (std::size_t id = 0; id < kModelCount; ++id) {
    if (is_in(set, id)) covered |= tables().implied[id] & ~(ModelSet{1} << id);
  }
  return set & ~covered;
}

std::vector<std::string_view> make_names() {
  std::vector<std::string_view> names;
  for (const Model& model : kModels) names.push_back(model.name);
  for (const Alias& alias : kAliases) names.push_back(alias.name);
  return names;
}

}  // namespace

std::span<const std::string_view> model_names() {
  static const std::vector<std::string_view> kNames = make_names();
  return kNames;
}

std::string_view canonical_model(std::string_view name) {
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return alias.canonical;
  }
  assert(model_id(name) != kNotFound);
  return name;
}

std::vector<std::string> weakest_ruled_out(std::string_view anomaly) {
  return names_of(weakest(ruled_out(with_implied(anomaly))));
}

bool rules_out(std::string_view anomaly, std::string_view model) {
  return is_in(ruled_out(with_implied(anomaly)), model_id(canonical_model(model)));
}

bool is_of_single_keys(std::string_view model) { return !rules_out("G0", model); }

bool anomaly_implies(std::string_view stronger, std::string_view weaker) {
  const std::size_t id = anomaly_id(weaker);
  return id != kNotFound && (with_implied(stronger) >> id & 1U) != 0;
}

Boundary boundary(std::span<const std::string> anomalies) {
  AnomalySet found = 0;
  for (const std::string& anomaly : anomalies) found |= with_implied(anomaly);
  const ModelSet violated = ruled_out(found);
  const ModelSet all = (ModelSet{1} << kModelCount) - 1;
  return {names_of(weakest(violated)), names_of(violated), names_of(strongest(all & ~violated))};
}

}  // namespace ordeal::cycles
