// Wording that the writers share: counts, joined names, and recorded text cut to a length that
// people read. Pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/judgement.h"

namespace ordeal {

std::string with_commas(std::uint64_t number);  // "1,234,567"
std::string times_found(std::uint64_t count);   // "once", "twice", "12 times"
std::string joined(const std::vector<std::string>& names, std::string_view separator = ", ");
std::string seconds_text(std::chrono::nanoseconds time);  // "12.345 s"

// The most telling first: those that rule out the weakest models, without session and real-time
// order before those that need it.
std::vector<std::string> by_weight(std::vector<std::string> types);
// All types of anomaly found: those that the checked model rules out, then those that it allows,
// both by weight.
std::vector<std::string> types_by_weight(const CheckResult& result);
// "G2-item (12 times), G-single (once)", of those that the checked model rules out; at most six.
std::string anomalies_text(const CheckResult& result);
// "9,700 ok, 200 fail, 100 info".
std::string outcomes_text(const OutcomeCounts& counts);
// The sentence of a verdict without its first word: "not serializable: G2-item (12 times)".
std::string verdict_words(const CheckResult& result);
// Those of the first judgement that decided the run, or the run's own reason.
std::string verdict_words(const RunVerdict& verdict);

// Shortens every list in `text` ("[1 2 3 ...]") of more than `elements_max` elements. Lists that
// begin alike keep what lies around the first difference, others their end: that is where appends
// disagree. What is left out becomes "...".
std::string shorten_lists(std::string_view text, std::size_t elements_max);

// At most `bytes_max` bytes of `text`, cut between characters and ended by "..." where it was
// longer.
std::string shorten(std::string_view text, std::size_t bytes_max);

// Control characters but for newlines become escapes, so that nothing recorded steers a terminal.
std::string terminal_safe(std::string_view text);

}  // namespace ordeal
