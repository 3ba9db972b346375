// The library of uml_xstate.cc as bytes, so that it can be put beside a lab's state: the program
// needs no files beside it.
#pragma once

#include <string_view>

namespace ordeal {

std::string_view uml_xstate_library();

}  // namespace ordeal
