// Findings in words, for a database engineer: transactions in short form, then why each must come
// before the next, and why that cannot be. After Elle's explanations.
#pragma once

#include <span>
#include <string>

#include "checkers/checker.h"
#include "checkers/cycles/cycle_classes.h"
#include "checkers/cycles/dependencies.h"

namespace ordeal::cycles {

// "[1 2 3]"; a long list is shortened around place `focus`: "[1 2 ... 8 9 10 ...]".
std::string list_text(std::span<const Value> list, std::size_t focus);
std::string list_text(std::span<const Value> list);

// "{:index 7, :process 3, :type :ok, :value [[:append x 4] [:r y [1 2]]]}"
std::string transaction_text(const Transactions& transactions, TxnId txn);

// The number 1 for the string "1" and the other way round: what a client that mixes types would
// have written. nil if there is none.
Value as_other_type(Value value);

// "T1 did not observe T2's append of 4 to 3"
std::string step_text(const Dependencies& dependencies, const CycleStep& step,
                      std::string_view from, std::string_view to);

// An anomaly that needs no cycle, explained in words.
Anomaly direct_anomaly(const Transactions& transactions, std::string_view type,
                       std::span<const TxnId> txns, KeyId key, std::vector<Value> values,
                       std::string explanation);

// The whole anomaly: steps with keys, values and words, and the explanation that ends in "a
// contradiction!".
Anomaly explain_cycle(const Dependencies& dependencies, const Cycle& cycle);

}  // namespace ordeal::cycles
