// What every report is made from: the verdict of a checker on a history, and that of a whole run.
// Plain data, no behaviour beyond naming; the writers beside this file turn it into JSON, text,
// JUnit and HTML.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/checker.h"
#include "report/coverage.h"

namespace ordeal {

// One checker's verdict on one history file.
struct Judgement {
  std::string file;  // as the user named it
  CheckResult result;
  double read_seconds = 0;            // to read the file
  std::vector<std::string> warnings;  // of the reader: a torn tail, skipped lines
};

// The verdict of a run. `overall` is decided by the orchestrator: it also weighs the vacuity
// findings, and so may be unknown although every checker says valid.
struct RunVerdict {
  std::string campaign;
  std::uint64_t seed = 0;
  std::string command;  // reproduces the run; one line of shell
  std::string started;  // UTC, e.g. "2024-05-01T12:00:00Z"
  std::chrono::milliseconds duration{0};
  std::map<std::string, std::string> versions;  // "ordeal" -> "0.1.0", "PostgreSQL" -> "15.6"
  Validity overall = Validity::unknown;
  std::string reason;                 // of `overall`, one sentence
  std::vector<Judgement> judgements;  // the main one first
  std::vector<std::string> vacuity;   // findings of the vacuity check; none: something was tested
  std::map<std::string, std::uint64_t> fault_counts;  // injected, by fault
  std::vector<CoverageRow> coverage;
  OutcomeCounts outcomes;              // of the workload's operations
  std::vector<std::string> log_files;  // server logs, relative to the run's folder
};

// "valid", "invalid", "unknown".
std::string_view validity_name(Validity validity);

}  // namespace ordeal
