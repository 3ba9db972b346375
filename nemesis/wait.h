// Waiting that a stop request ends.
#pragma once

#include <chrono>
#include <stop_token>

namespace ordeal {

// False when stopped before.
bool sleep_until(std::chrono::steady_clock::time_point moment, const std::stop_token& stop);

}  // namespace ordeal
