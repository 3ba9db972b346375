// Long forks: two writes, of x and of y, and two reads of both keys, of which one saw only x and
// the other only y, so that they do not agree which write came first. Snapshot isolation rules that
// out, parallel snapshot isolation does not. After jepsen.tests.long-fork, whose result fields it
// has.
//
// Expects transactions that either write one key (never written by another) or read all keys of a
// group. All groups have the same size: option `group-size`, by default that of the first read.
// Histories that don't keep to this are unknown. Anomaly: long-fork, with the cycle where all four
// transactions are in the history. `forks` has one pair of reads for each two states next to each
// other in size that don't fit; Jepsen lists every pair of reads, which can be quadratically many.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> long_fork_options();
CheckResult check_long_fork(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
