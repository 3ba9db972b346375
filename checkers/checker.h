// A checker is a function from a recorded history to a verdict. It does no I/O and knows no
// database. Adding one is one file, one test, and one line of catalog.cc.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "history/history.h"

namespace ordeal {

// Verdicts merge by weight: invalid > unknown > valid.
enum class Validity { valid, unknown, invalid };
inline Validity merge(Validity a, Validity b) { return a < b ? b : a; }

// One edge of a cycle. `from` and `to` are indexes of completion operations (of the invocation
// where the operation never completed or is info).
struct Step {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::string edge;  // "ww", "wr", "rw", "process", "realtime"
  std::optional<Value> key;
  std::optional<Value> value;
  std::optional<Value> next_value;
  std::string explanation;  // in words, of this step
};

struct Anomaly {
  std::string type;                          // Elle's name, e.g. "G-single-item-realtime"
  std::vector<std::string> models_violated;  // the weakest models that this type rules out
  std::string explanation;                   // "Let T1 = ..., then ...; a contradiction!"
  std::vector<Step> steps;                   // of a cycle; else empty
  std::vector<std::uint64_t> operations;     // involved, by index
  std::optional<Value> key;
  std::vector<Value> values;
};

// One transaction of the proof of a valid verdict: in a serial order, or (start < commit) with its
// logical times under snapshots.
struct CertificateLine {
  std::uint64_t operation = 0;  // index, as in Step
  std::uint64_t start = 0;
  std::uint64_t commit = 0;  // 0: the lines are a serial order
};

struct OutcomeCounts {
  std::uint64_t ok = 0;
  std::uint64_t fail = 0;
  std::uint64_t info = 0;
};

struct CheckResult {
  std::string checker;
  std::string model;
  Validity validity = Validity::unknown;
  std::string reason;  // why unknown, or the one-sentence summary
  std::uint64_t operations = 0;
  OutcomeCounts transactions;
  std::vector<std::string> anomaly_types;  // found, of those that the model rules out; sorted
  std::vector<std::string> anomaly_types_beyond;  // found as well, allowed by the model
  std::map<std::string, std::uint64_t> anomaly_counts;
  std::vector<Anomaly> anomalies;  // the clearest examples of each type
  std::vector<std::string> weakest_violated;
  std::vector<std::string> all_violated;
  std::vector<std::string> strongest_possible;
  std::map<std::string, std::string> fields;  // a checker's own result fields, values as JSON text
  // If asked for (option certificate) and valid; empty where the model has none or none was found.
  std::vector<CertificateLine> certificate;
  std::string certificate_note;  // why it is empty though the verdict is valid
  double check_seconds = 0;  // set by who called the checker
};

struct CheckerEntry {
  std::string_view name;
  std::string_view summary;
  std::span<const OptionSpec> options;  // "model" among them where the checker has models
  CheckResult (*check)(const History& history, const Options& options, std::stop_token stop);
};

std::span<const CheckerEntry> checker_catalog();

}  // namespace ordeal
