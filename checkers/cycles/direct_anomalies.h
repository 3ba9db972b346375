// Anomalies that single reads and appends show, without a graph: G1a, G1b, internal, future-read,
// duplicate-elements, incompatible-order, lost-update, dirty-update, garbage-read, cyclic-versions.
// Definitions after Elle and Adya; each is stated where it is found. One pass over the
// micro-operations, constant work for each unless something is wrong with it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "checkers/checker.h"
#include "checkers/cycles/inference.h"

namespace ordeal::cycles {

struct DirectReport {
  std::map<std::string, std::uint64_t> counts;
  std::vector<Anomaly> examples;  // at most examples_max of a type
};

DirectReport find_direct_anomalies(const Inference& inference, std::size_t examples_max);

}  // namespace ordeal::cycles
