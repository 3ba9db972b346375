// Which classes of cycles a dependency graph has, decided exactly and without search (design: a
// class is there or it is not; searching only picks what to show).
//
//   G0             a cycle of ww edges
//   G1c            of ww and wr edges, with a wr
//   G-single       one rw edge u -> v, and v reaches u by ww and wr
//   G-nonadjacent  several rw edges, no two adjacent: a cycle of the product graph node x "last
//   edge was rw" G2             any other cycle with an rw edge
// each over the data edges alone, with session order ("-process"), or with session and real-time
// order
// ("-realtime").
//
// A class is reported once per strongly connected component, and left out where the same component
// has a stronger one, by the implications G0 => G1c and G-single => G-nonadjacent => G2, data =>
// process => realtime.
//
// Cost: linear, except that G-single needs reachability under rw edges: see single_cycles.h.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "checkers/cycles/graph.h"

namespace ordeal::cycles {

struct CycleReport {
  std::map<std::string, std::uint64_t> counts;         // components, by type
  std::map<std::string, std::vector<Cycle>> examples;  // shortest first
  bool stopped = false;                                // on request, before the end
};

// Elle's name for the class of a cycle; rw edges are of items, not predicates, so the names end in
// "-item".
std::string cycle_type(const Cycle& cycle);

CycleReport find_cycles(const Graph& graph, std::size_t examples_max, std::stop_token stop);

}  // namespace ordeal::cycles
