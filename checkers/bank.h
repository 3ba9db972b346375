// Money moves between accounts, so the sum of all balances is the same in every read, however
// transfers end. Judges each ok read of all accounts (payload Balances); after Jepsen's
// jepsen.tests.bank, whose error names and result fields it uses:
//   wrong-total     the balances do not add up to the expected total
//   unexpected-key  an account that the first read did not have
//   nil-balance     an account of the first read is missing
//   negative-value  a balance below zero, unless negative-balances=true
// The expected total is option `total`, by default that of the first ok read.
#pragma once

#include "checkers/checker.h"

namespace ordeal {

std::span<const OptionSpec> bank_options();
CheckResult check_bank(const History& history, const Options& options, std::stop_token stop);

}  // namespace ordeal
