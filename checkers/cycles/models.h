// Consistency models, what anomalies rule them out, and how they imply one another. The tables and
// their sources are in model_table.h; names are Elle's.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ordeal::cycles {

struct ModelInfo {
  std::string name;
  std::vector<std::string> aliases;
  std::vector<std::string> implies;  // directly
  std::vector<std::string> forbids;  // anomalies, beyond those that what it implies forbids
  std::string source;
  std::string form_of;  // the model of which it is the strong-session or the strong form; else ""
};
// All of them, each after those that it implies.
std::span<const ModelInfo> models();

struct AnomalyInfo {
  std::string name;
  std::vector<std::string> implies;  // directly
};
std::vector<AnomalyInfo> anomalies();

// Canonical names and then aliases ("strong-serializable" for "strict-serializable"), for options
// and lists.
std::span<const std::string_view> model_names();
// The canonical name; `name` must be one of model_names().
std::string_view canonical_model(std::string_view name);

// The weakest models that the anomaly rules out, sorted; empty for a name unknown to the table.
std::vector<std::string> weakest_ruled_out(std::string_view anomaly);
bool rules_out(std::string_view anomaly, std::string_view model);
// Whether the model is about keys one by one (session guarantees, linearizable keys): such a model
// says nothing of transactions, and allows even interleaved writes.
bool is_of_single_keys(std::string_view model);
// Whether finding `stronger` implies that `weaker` is there too, e.g. G-single-item and G2-item.
bool anomaly_implies(std::string_view stronger, std::string_view weaker);
// Whether to tell `one` before `other`: it rules out more models, whatever their sessions and
// clocks are like; or as many of those, and more strong-session ones; or then more strong ones.
bool more_severe(std::string_view one, std::string_view other);

struct Boundary {
  std::vector<std::string> weakest_violated;
  std::vector<std::string> all_violated;
  std::vector<std::string> strongest_possible;
};
// All lists sorted by name.
Boundary boundary(std::span<const std::string> anomalies);

}  // namespace ordeal::cycles
