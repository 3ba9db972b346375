// An operation's payload as one line of EDN-like text, as people write histories:
// "[:append 3 7] [:r 3 [7 8]]".
#pragma once

#include <string>

#include "history/operation.h"

namespace ordeal {

std::string payload_text(const Payload& payload);

}  // namespace ordeal
