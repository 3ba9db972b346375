// The library of real_waits.cc as bytes, so that it can be put onto a host: the program needs no
// files beside it.
#pragma once

#include <string_view>

namespace ordeal {

std::string_view real_waits_library();

}  // namespace ordeal
