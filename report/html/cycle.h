// A cycle of transactions as an SVG: the transactions on a circle, an arrow for each dependency.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "checkers/checker.h"

namespace ordeal {

using TransactionNames = std::map<std::uint64_t, std::string>;  // operation index -> "T1"

// "" for anomalies without steps, and for cycles too long for a picture.
std::string cycle_svg(const Anomaly& anomaly, const TransactionNames& names);

}  // namespace ordeal
