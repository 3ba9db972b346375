// What goes into a queue must come out: each acknowledged :enqueue has its ok :dequeue, in a
// history that ends with draining the queue. An ok :drain is a dequeue of each of its elements.
// After jepsen.checker/total-queue, whose result fields it has. Elements are counted as often as
// they occur. Anomalies:
//   lost        acknowledged, but never dequeued. As in Jepsen, a dequeue that ended as info is not
//               supposed to have taken it; the explanation says so if there are any
//   unexpected  dequeued, but nobody ever tried to enqueue it
//   duplicated  dequeued more often than anybody tried to enqueue it; reported, but not invalid
// Where a :drain ended as info, what it took is not known: then nothing is called lost, and what
// was not dequeued makes the verdict unknown. (Jepsen refuses such histories.)
#pragma once

#include "checkers/checker.h"

namespace ordeal {

CheckResult check_total_queue(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
