// Money moves between accounts, so the sum of all balances is the same in every read, however
// transfers end. Judges each ok :read of all accounts, a map of account to balance; after
// jepsen.tests.bank, whose error names and result fields it has. A read has one error at most, the
// first of:
//   unexpected-key  an account that neither the first read nor any transfer has
//   nil-balance     an account of the first read is nil, or, unless missing-accounts=true, missing
//   wrong-total     the balances do not add up to the expected total
//   negative-value  a balance below zero, unless negative-balances=true
// The expected total is option `total`, by default that of the first ok read. Operations stand in
// the fields as their index.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> bank_options();
CheckResult check_bank(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
