// Proof of a valid verdict: an order of transactions that whoever distrusts this program can
// replay.
#pragma once

#include <string_view>
#include <vector>

#include "checkers/checker.h"
#include "checkers/cycles/graph.h"
#include "checkers/cycles/transactions.h"

namespace ordeal::cycles {

// How a model's promise is shown to be kept.
enum class Proof {
  none,      // the model is not about an order of whole transactions
  serial,    // an order in which executing one transaction after the other gives what was read
  snapshots  // a start and a commit time each (Adya: PL-SI; Cerone-SI, see model_table.h)
};
// And which order besides that of the data it keeps: kProcess, kRealtime.
struct ProofPlan {
  Proof proof = Proof::none;
  EdgeMask order = 0;
};
// By canonical name of the model.
ProofPlan proof_plan(std::string_view model);

// Transactions that wrote to one key, in an order that the history does not tell: under snapshots
// one of them must have committed before the next one started.
using Rivals = std::vector<TxnId>;

// Fills in `result.certificate` of a valid verdict: the committed transactions in an order that
// proves the model, which follows the times of the history where it can. Else
// `result.certificate_note`: the model has no proof, or no order of the rivals was found that goes
// with all the rest (under snapshots only; it does not mean that there is none). O(n log n).
void prove(CheckResult& result, const Transactions& transactions, const Graph& graph,
           const std::vector<Rivals>& rivals);

}  // namespace ordeal::cycles
