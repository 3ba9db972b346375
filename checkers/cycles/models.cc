#include "checkers/cycles/models.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

#include "checkers/cycles/model_table.h"

namespace ordeal::cycles {
namespace {

constexpr std::size_t kAnomalyCount = std::size(kAnomalies);
using ModelSet = std::uint64_t;
using AnomalySet = std::uint64_t;
constexpr std::size_t kModelsMax = 64;
static_assert(kAnomalyCount <= 64);
static_assert(std::size(kSingleKeyModels) + 3 * std::size(kModels) <= kModelsMax);

constexpr std::size_t kNotFound = ~std::size_t{0};

// A stronger form that each model of transactions has.
struct Form {
  std::string_view prefix;
  std::string_view suffix;  // of the cycles that it forbids
  std::string_view weaker;  // prefix of the form that it implies
  Names Model::*single_keys;
};
constexpr Form kForms[] = {
    {"strong-session-", "-process", "", &Model::in_sessions},
    {"strong-", "-realtime", "strong-session-", &Model::in_real_time},
};

template <class Visit>
void for_each_name(Names names, Visit&& visit) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(' '), names.size());
    visit(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

std::size_t anomaly_id(std::string_view name) {
  for (std::size_t id = 0; id < kAnomalyCount; ++id) {
    if (kAnomalies[id].anomaly == name) return id;
  }
  return kNotFound;
}

std::string_view in_table(std::string_view alias) {
  for (const Alias& known : kAliases) {
    if (known.name == alias) return known.canonical;
  }
  return alias;
}

std::string form_name(std::string_view prefix, std::string_view model) {
  return std::string(in_table(fmt::format("{}{}", prefix, model)));
}

std::vector<std::string> words(Names names) {
  std::vector<std::string> list;
  for_each_name(names, [&](std::string_view name) { list.emplace_back(name); });
  return list;
}

std::vector<std::string> aliases_of(std::string_view model) {
  std::vector<std::string> aliases;
  for (const Alias& alias : kAliases) {
    if (alias.canonical == model) aliases.emplace_back(alias.name);
  }
  return aliases;
}

ModelInfo as_in_table(const Model& model) {
  return {std::string(model.name), aliases_of(model.name),    words(model.implies),
          words(model.forbids),    std::string(model.source), ""};
}

ModelInfo strengthened(const Model& model, const Form& form) {
  ModelInfo strong;
  strong.name = form_name(form.prefix, model.name);
  strong.form_of = model.name;
  strong.aliases = aliases_of(strong.name);
  for (const std::string& alias : aliases_of(model.name)) {
    const std::string name = form_name(form.prefix, alias);
    if (name != strong.name) strong.aliases.push_back(name);
  }
  strong.implies.push_back(form_name(form.weaker, model.name));
  for_each_name(model.implies, [&](std::string_view weaker) {
    strong.implies.push_back(form_name(form.prefix, weaker));
  });
  for (std::string& name : words(model.*form.single_keys)) strong.implies.push_back(name);
  for_each_name(model.forbids, [&](std::string_view anomaly) {
    const std::string name = fmt::format("{}{}", anomaly, form.suffix);
    if (anomaly_id(name) != kNotFound) strong.forbids.push_back(name);
  });
  return strong;
}

// Each stands after those that it implies.
std::vector<ModelInfo> make_models() {
  std::vector<ModelInfo> all;
  for (const Model& model : kSingleKeyModels) all.push_back(as_in_table(model));
  for (const Model& model : kModels) all.push_back(as_in_table(model));
  for (const Form& form : kForms) {
    for (const Model& model : kModels) all.push_back(strengthened(model, form));
  }
  return all;
}

std::size_t model_id(std::string_view name) {
  const auto all = models();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const ModelInfo& model) { return model.name == name; });
  return found == all.end() ? kNotFound : static_cast<std::size_t>(found - all.begin());
}

AnomalySet implied_by(std::string_view anomaly) {
  const std::size_t id = anomaly_id(anomaly);
  if (id == kNotFound) return 0;
  AnomalySet result = AnomalySet{1} << id;
  for_each_name(kAnomalies[id].implies, [&](std::string_view name) { result |= implied_by(name); });
  return result;
}

struct Tables {
  // By model: those that hold where this one does, itself included.
  std::array<ModelSet, kModelsMax> implied{};
  std::array<AnomalySet, kModelsMax> forbidden{};  // directly
  std::array<AnomalySet, kAnomalyCount> implied_anomalies{};
};

Tables make_tables() {
  Tables tables;
  for (std::size_t id = 0; id < models().size(); ++id) {
    tables.implied[id] = ModelSet{1} << id;
    // What it implies stands before it, so one pass closes the relation.
    for (const std::string& name : models()[id].implies) {
      assert(model_id(name) < id);
      tables.implied[id] |= tables.implied[model_id(name)];
    }
    for (const std::string& name : models()[id].forbids) {
      assert(anomaly_id(name) != kNotFound);
      tables.forbidden[id] |= AnomalySet{1} << anomaly_id(name);
    }
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
  for (std::size_t id = 0; id < models().size(); ++id) {
    if ((tables().forbidden[id] & anomalies) != 0) directly |= ModelSet{1} << id;
  }
  ModelSet result = 0;
  for (std::size_t id = 0; id < models().size(); ++id) {
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
  for (std::size_t id = 0; id < models().size(); ++id) {
    if (is_in(set, id)) names.push_back(models()[id].name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Those that imply no other member.
ModelSet weakest(ModelSet set) {
  ModelSet result = 0;
  for (std::size_t id = 0; id < models().size(); ++id) {
    const ModelSet self = ModelSet{1} << id;
    if (is_in(set, id) && (tables().implied[id] & set) == self) result |= self;
  }
  return result;
}

// Those that no other member implies.
ModelSet strongest(ModelSet set) {
  ModelSet covered = 0;
  for (std::size_t id = 0; id < models().size(); ++id) {
    if (is_in(set, id)) covered |= tables().implied[id] & ~(ModelSet{1} << id);
  }
  return set & ~covered;
}

std::vector<std::string_view> make_names() {
  std::vector<std::string_view> names;
  for (const ModelInfo& model : models()) names.push_back(model.name);
  for (const ModelInfo& model : models()) {
    names.insert(names.end(), model.aliases.begin(), model.aliases.end());
  }
  return names;
}

}  // namespace

std::span<const ModelInfo> models() {
  static const std::vector<ModelInfo> kAll = make_models();
  return kAll;
}

std::span<const std::string_view> model_names() {
  static const std::vector<std::string_view> kNames = make_names();
  return kNames;
}

std::string_view canonical_model(std::string_view name) {
  for (const ModelInfo& model : models()) {
    if (std::find(model.aliases.begin(), model.aliases.end(), name) != model.aliases.end()) {
      return model.name;
    }
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

bool more_severe(std::string_view one, std::string_view other) {
  const ModelSet models_of_one = ruled_out(with_implied(one));
  const ModelSet models_of_other = ruled_out(with_implied(other));
  // In the order of models(): those in the table, strong-session ones, strong ones.
  constexpr ModelSet kForm = (ModelSet{1} << std::size(kModels)) - 1;
  std::size_t begin = std::size(kSingleKeyModels);
  for (std::size_t form = 0; form <= std::size(kForms); ++form, begin += std::size(kModels)) {
    const int count = std::popcount(models_of_one >> begin & kForm);
    const int other_count = std::popcount(models_of_other >> begin & kForm);
    if (count != other_count) return count > other_count;
  }
  return false;
}

std::vector<AnomalyInfo> anomalies() {
  std::vector<AnomalyInfo> all;
  for (const Implication& anomaly : kAnomalies) {
    all.push_back({std::string(anomaly.anomaly), words(anomaly.implies)});
  }
  return all;
}

Boundary boundary(std::span<const std::string> anomalies) {
  AnomalySet found = 0;
  for (const std::string& anomaly : anomalies) found |= with_implied(anomaly);
  const ModelSet violated = ruled_out(found);
  const ModelSet all = ~ModelSet{0} >> (kModelsMax - models().size());
  return {names_of(weakest(violated)), names_of(violated), names_of(strongest(all & ~violated))};
}

}  // namespace ordeal::cycles
