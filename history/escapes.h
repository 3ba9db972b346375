// The escape \uXXXX, which strings of EDN and JSON share.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ordeal {

// Appends, as UTF-8, what the escape \uXXXX stands for whose digits begin at `at`; two of them may
// be one character (a surrogate pair). The number of characters read from `at` on; 0 where it is no
// such escape.
std::size_t append_unicode_escape(std::string_view text, std::size_t at, std::string& out);

}  // namespace ordeal
