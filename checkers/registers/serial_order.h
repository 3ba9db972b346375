// Proof of a valid verdict on registers. Their versions are not totally ordered by what is known,
// and to find a serial order is NP-complete (Papadimitriou, JACM 1979), so this is a search that
// may fail: it never goes back.
#pragma once

#include <vector>

#include "checkers/cycles/graph.h"
#include "checkers/registers/inference.h"

namespace ordeal::registers {

// The committed transactions in an order in which each reads what the ones before it left, and
// which keeps session and real-time order as far as `order` has them. Empty if none was found. A
// transaction comes next if everything it depends on has been, it finds the versions that it read,
// and nobody else has yet to read those that it replaces; of several, the one whose writes are read
// first, or, in a second attempt, the one that completed first.
std::vector<TxnId> serial_order(const Inference& inference, const cycles::Graph& graph,
                                cycles::EdgeMask order);

}  // namespace ordeal::registers
