// Signs that a history's operations are not in the order in which they happened, or not all there.
// None is an error: checkers that need no real-time order can still judge it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "history/history.h"

namespace ordeal {

// A sentence for each kind of sign: how often, and where first. `name` is the file's.
std::vector<std::string> order_warnings(const History& history, std::string_view name);

}  // namespace ordeal
