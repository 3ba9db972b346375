// What each key shows on its own: whether it is linearizable, and whether sessions keep their
// guarantees on it (Terry et al., "Session guarantees for weakly consistent replicated data", PDIS
// 1994). Anomalies by the names of Bailis et al., "Highly Available Transactions", VLDB 2013,
// appendix A; a session is a process:
//
//   N-MR   non-monotonic reads: a session reads an older version than it has read before
//   MYR    missing your writes: ... than it has written before
//   N-MW   non-monotonic writes: a session's write comes before an earlier one of its own
//   MRWD   missing read-write dependency: ... before a version that it has read (a write that does
//          not follow the session's reads)
//   non-linearizable-key   a transaction sees or writes of a key what comes before that which one
//          that had completed before its invocation saw or wrote
//
// Version orders of lists are total, so pairs of transactions decide all five. Each of them lies on
// a cycle with a session or real-time edge, or shows what no committed transaction can have seen,
// so that a history without cycles and direct anomalies has none.
#pragma once

#include "checkers/cycles/direct_anomalies.h"
#include "checkers/cycles/inference.h"

namespace ordeal::cycles {

// One pass over the events.
DirectReport find_single_key_anomalies(const Inference& inference, std::size_t examples_max);

// Adds that a key is not linearizable where a read of it shows what it never was: direct anomalies
// of elements that were not appended then, or not in that order.
void add_impossible_states(const DirectReport& direct, DirectReport& single_keys);

}  // namespace ordeal::cycles
