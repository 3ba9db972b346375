// A cycle of transactions as a graph in Graphviz' DOT language: a node per transaction, an edge per
// dependency, labelled with the key and the versions.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "checkers/checker.h"

namespace ordeal {

using TransactionNames = std::map<std::uint64_t, std::string>;  // operation index -> "T1"

// "T1", "T2", ... in the order of the explanation.
TransactionNames transaction_names(const Anomaly& anomaly);

// "" for anomalies without steps, and for cycles too long for a picture.
std::string cycle_dot(const Anomaly& anomaly, const TransactionNames& names);

}  // namespace ordeal
