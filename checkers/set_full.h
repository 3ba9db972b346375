// Elements are added to a set by :add, and each ok :read returns all of it. Follows each element
// through all reads. After jepsen.checker/set-full, whose result fields it has.
//
// An element is known once its add was acknowledged or a read returned it, whichever completed
// first. It is stable if the reads that began last have it, lost if it was known before the last
// read without it began, and never-read otherwise. Anomalies:
//   lost        as above
//   duplicated  more than once in one read
//   stale       stable, but missing from a read that began after it was known; invalid only with
//               linearizable=true
// The field `stale` lists, as Jepsen does, those that were stale for a millisecond or longer; the
// anomaly is any of them. Without a stable element the verdict is unknown. An element that nobody
// added is none of this checker's concern: see set.h. Adding an element again starts it anew.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> set_full_options();
CheckResult check_set_full(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
