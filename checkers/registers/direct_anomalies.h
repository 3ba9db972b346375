// Anomalies of registers that single reads and writes show, without a graph: internal, future-read,
// G1a, G1b, dirty-update, lost-update, garbage-read, and cyclic-versions from the version orders.
// Definitions after Elle and Adya; each is stated where it is found. One pass.
#pragma once

#include "checkers/cycles/direct_anomalies.h"
#include "checkers/registers/inference.h"

namespace ordeal::registers {

cycles::DirectReport find_direct_anomalies(const Inference& inference, std::size_t examples_max);

}  // namespace ordeal::registers
